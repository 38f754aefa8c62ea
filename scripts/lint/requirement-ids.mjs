const SUITES = new Set(["it", "test"]);
const WELL_FORMED = /^[^(]*(\((?!R\d)[^)]*\)[^(]*)*\(R\d+(, R\d+){0,2}\)$/;

/** Titles cite what they prove the same way everywhere: "keeps links as links (R165, R184)". */
export const requirementIds = {
  create(context) {
    return {
      CallExpression(node) {
        if (!SUITES.has(rootName(node.callee))) return;
        const title = titleOf(node.arguments[0]);
        if (title === undefined || !/\bR\d+\b/.test(title) || WELL_FORMED.test(title)) return;
        context.report({
          node: node.arguments[0],
          message: "Requirement ids stand at the end in parentheses, three at most.",
        });
      },
    };
  },
};

function rootName(node) {
  if (node.type === "Identifier") return node.name;
  if (node.type === "MemberExpression") return rootName(node.object);
  if (node.type === "CallExpression") return rootName(node.callee);
  return undefined;
}

function titleOf(node) {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral") return node.quasis.map((one) => one.value.cooked).join("…");
  return undefined;
}
