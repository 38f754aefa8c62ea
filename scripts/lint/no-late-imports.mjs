/**
 * Modules are imported at the top. A package may be loaded on first use, because some take long to
 * load or are optional; our own files and names found at run time only where the configuration of
 * the linter says so.
 */
export const noLateImports = {
  create(context) {
    return {
      ImportExpression(node) {
        const { value } = node.source;
        if (typeof value === "string" && !/^(\.|node:|file:|\/)/.test(value)) return;
        context.report({ node, message: "Only the places named in .oxlintrc.json import late." });
      },
    };
  },
};
