// Draws the text of a terminal, with its colours, as a picture whose lines appear one after the other.

const LINE = 18;
const CHARACTER = 8.43;
const MARGIN = 16;
/** How long a typed line waits, and how long one of the answer, in seconds. */
const PAUSES = { typed: 1.2, told: 0.08 };
const COLOURS = { 31: "#e5534b", 32: "#57ab5a", 33: "#c69026", 36: "#39c5cf" };

/** Lines are `{ isTyped, text }`; text may hold escape sequences for bold, dim and colours. */
export function drawTerminal(lines, columns) {
  const width = Math.round(columns * CHARACTER + 2 * MARGIN);
  const height = lines.length * LINE + 2 * MARGIN;
  let at = 0;
  const drawn = lines.map(({ isTyped, text }, index) => {
    at += isTyped ? PAUSES.typed : PAUSES.told;
    const y = MARGIN + (index + 1) * LINE - 5;
    const kind = isTyped ? ' class="typed"' : "";
    return `<g${kind} style="animation-delay:${at.toFixed(2)}s"><text x="${MARGIN}" y="${y}">${spans(text)}</text></g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="coffer in a terminal">
<style>
rect { fill: #1c2128 }
text { font: 14px ui-monospace, Menlo, Consolas, monospace; fill: #adbac7; white-space: pre }
.typed text { fill: #e6edf3; font-weight: 600 }
.bold { font-weight: 700 } .dim { opacity: 0.6 }
g { animation: appear 0.01s both }
@keyframes appear { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { g { animation: none } }
</style>
<rect width="100%" height="100%" rx="8"/>
${drawn.join("\n")}
</svg>
`;
}

/** The parts of a line, each with its look. */
function spans(text) {
  let look = { bold: false, dim: false, colour: null };
  return text
    .split(/(\u001b\[[\d;]*m)/)
    .map((part) => {
      const codes = /^\u001b\[([\d;]*)m$/.exec(part)?.[1];
      if (codes === undefined) return part === "" ? "" : span(part, look);
      for (const code of codes.split(";")) look = changed(look, Number(code));
      return "";
    })
    .join("");
}

function changed(look, code) {
  if (code === 0) return { bold: false, dim: false, colour: null };
  if (code === 1) return { ...look, bold: true };
  if (code === 2) return { ...look, dim: true };
  if (code === 22) return { ...look, bold: false, dim: false };
  if (code === 39) return { ...look, colour: null };
  return { ...look, colour: COLOURS[code] ?? look.colour };
}

function span(text, { bold, dim, colour }) {
  const classes = [...(bold ? ["bold"] : []), ...(dim ? ["dim"] : [])];
  const kind = classes.length === 0 ? "" : ` class="${classes.join(" ")}"`;
  const fill = colour === null ? "" : ` style="fill:${colour}"`;
  return `<tspan${kind}${fill}>${escaped(text)}</tspan>`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
