const THROW_MATCHERS = /^toThrow(Error)?(ErrorMatching(Inline)?Snapshot)?$/;

/** Errors are recognised by class and code; their wording is for people and may change. */
export const noMessageMatching = {
  create(context) {
    return {
      CallExpression(node) {
        const { callee } = node;
        if (callee.type === "MemberExpression" && THROW_MATCHERS.test(callee.property.name ?? "")) {
          const [expected] = node.arguments;
          if (expected !== undefined && isText(expected)) report(expected);
          if (callee.property.name.endsWith("Snapshot")) report(node);
        }
        if (callee.type === "Identifier" && callee.name === "expect" && node.arguments[0]) {
          const [actual] = node.arguments;
          if (actual.type === "MemberExpression" && actual.property.name === "message")
            report(actual);
        }
      },
      Property(node) {
        const isMessage = (node.key.name ?? node.key.value) === "message";
        if (isMessage && isText(node.value) && isInsideExpectation(node)) report(node);
      },
    };

    function report(node) {
      context.report({ node, message: "Assert the class and the code of an error, not its text." });
    }
  },
};

function isText(node) {
  if (node.type === "TemplateLiteral") return true;
  if (node.type === "Literal") return typeof node.value === "string" || node.regex !== undefined;
  return (
    node.type === "CallExpression" &&
    /^string(Matching|Containing)$/.test(node.callee.property?.name ?? "")
  );
}

function isInsideExpectation(node) {
  for (let at = node.parent; at; at = at.parent) {
    if (at.type !== "CallExpression" || at.callee.type !== "MemberExpression") continue;
    if (/^(to[A-Z]|objectContaining$)/.test(at.callee.property.name ?? "")) return true;
  }
  return false;
}
