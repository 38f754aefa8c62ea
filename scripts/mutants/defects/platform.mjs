/** Defects in platform. */
export const PLATFORM = [
  {
    name: "ids-begin-with-the-last-digit",
    file: "src/platform/ids.ts",
    text: "text = ALPHABET.charAt(rest % 32) + text;",
    replacement: "text = text + ALPHABET.charAt(rest % 32);",
    tests: ["test/platform/ids.test.ts"],
    title: "26 characters",
  },
  {
    name: "outer-mount-taken-away-first",
    file: "src/platform/mount-table.ts",
    text: "b.mountPoint.length - a.mountPoint.length",
    replacement: "a.mountPoint.length - b.mountPoint.length",
    tests: ["test/platform/mount-table.root.test.ts"],
    title: "deepest and topmost",
  },
  {
    name: "rest-of-a-program-lives-on",
    file: "src/platform/run.ts",
    text: '    this.#child.on("exit", () => this.#killGroup());\n',
    replacement: "",
    tests: ["test/platform/run.test.ts"],
    title: "leaves in its group",
  },
  {
    name: "program-without-a-group",
    file: "src/platform/run.ts",
    text: "detached: true,",
    replacement: "detached: false,",
    tests: ["test/platform/run.test.ts"],
    title: "kills the whole group",
  },
];
