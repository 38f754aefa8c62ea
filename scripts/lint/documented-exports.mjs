/** Every exported symbol says in a comment of its own what it is and what it promises. */
export const documentedExports = {
  create(context) {
    return {
      ExportNamedDeclaration(node) {
        if (node.declaration === null) return;
        const comment = context.sourceCode.getCommentsBefore(node).at(-1);
        if (comment?.type === "Block" && comment.value.startsWith("*")) return;
        context.report({ node, message: "An exported symbol needs a JSDoc comment." });
      },
    };
  },
};
