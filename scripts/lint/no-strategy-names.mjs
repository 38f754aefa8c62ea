const NAMES = new Set([
  "git_worktree",
  "copy_on_write",
  "filesystem_copy",
  "overlay",
  "transaction_rollback",
]);

/** Code outside a strategy asks what it can do, never what it is called. */
export const noStrategyNames = {
  create(context) {
    return {
      BinaryExpression(node) {
        if (/^[!=]==?$/.test(node.operator)) [node.left, node.right].forEach(check);
      },
      SwitchCase(node) {
        if (node.test) check(node.test);
      },
    };

    function check(node) {
      if (node.type !== "Literal" || !NAMES.has(node.value)) return;
      context.report({ node, message: "Ask for a capability, not for a strategy's name." });
    }
  },
};
