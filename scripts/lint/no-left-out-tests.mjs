const SUITES = new Set(["it", "test", "describe", "suite", "context"]);
const SWITCHES = new Set(["skip", "only", "todo", "skipIf", "runIf", "fails"]);

/** A test runs or it does not exist. */
export const noLeftOutTests = {
  create(context) {
    return {
      MemberExpression(node) {
        if (node.computed || !SWITCHES.has(node.property.name)) return;
        if (!SUITES.has(rootName(node.object))) return;
        context.report({ node, message: `Tests are not left out by ".${node.property.name}".` });
      },
      CallExpression(node) {
        if (node.callee.type !== "Identifier" || !/^x(it|test|describe)$/.test(node.callee.name))
          return;
        context.report({ node, message: "Tests are not left out." });
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
