const compiled = new Map<string, RegExp>();

/** Matches `/`-separated text against a pattern with `*`, `?` and `**`. */
export function matchesGlob(text: string, pattern: string): boolean {
  let expression = compiled.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(`^${translate(pattern)}$`, "s");
    compiled.set(pattern, expression);
  }
  return expression.test(text);
}

function translate(pattern: string): string {
  return pattern
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((part) => {
      switch (part) {
        case "**/":
          return "(?:.*/)?";
        case "**":
          return ".*";
        case "*":
          return "[^/]*";
        case "?":
          return "[^/]";
        default:
          return Buffer.from(part, "utf8")
            .toString("latin1")
            .replace(/[\\^$.|+()[\]{}]/g, "\\$&");
      }
    })
    .join("");
}
