/** The part of a page below a heading of the second rank, without it; undefined where there is none. */
export function sectionOf(page, title) {
  return page
    .split(/^(?=## )/m)
    .find((part) => part.startsWith(`## ${title}\n`))
    ?.trimEnd();
}

/** A page with this section in the place of the one of the same heading, or as its last. */
export function withSection(page, section) {
  const [heading] = section.split("\n", 1);
  const parts = page.split(/^(?=## )/m).map((part) => part.trimEnd());
  const at = parts.findIndex((part) => part.split("\n", 1)[0] === heading);
  parts.splice(at === -1 ? parts.length : at, 1, section.trimEnd());
  return `${parts.join("\n\n")}\n`;
}
