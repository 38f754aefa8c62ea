const SWITCHES =
  /\b(oxlint|eslint)-disable|@ts-(ignore|nocheck|expect-error)|(v8|c8|istanbul) ignore/;

/** Rules are changed in the open, in the configuration, not in the middle of a file. */
export const noDisableComments = {
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          if (!SWITCHES.test(comment.value)) continue;
          context.report({ node: comment, message: "No check is switched off inside a file." });
        }
      },
    };
  },
};
