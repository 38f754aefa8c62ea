throw new Error(
  "The tests of the packed package need an installation of it: start them with `npm run pack:check`.",
);
