const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** A number of bytes for people: `14.2 kB`. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || Math.abs(value) >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]!}`;
}

/** A number of things for people: `1 file`, `9,812 files`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

/** What is published besides the edits, if anything. */
export function commitsText({ commits = 0 }: { readonly commits?: number }): string[] {
  const many = "commits made inside come along";
  return commits === 0 ? [] : [countText(commits, "commit made inside comes along", many)];
}

/** What was committed inside and is not published as such, if anything. */
export function strayText({ strayCommits = 0 }: { readonly strayCommits?: number }): string[] {
  if (strayCommits === 0) return [];
  const [one, many] = ["does not come along", "do not come along"];
  const what = countText(strayCommits, `commit made inside ${one}`, `commits made inside ${many}`);
  return [`${what}: what is published does not continue ${strayCommits === 1 ? "it" : "them"}`];
}

/** A whole number with commas, in every language the same. */
export function numberText(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A UTC time as the clock on the wall shows it. */
export function timeText(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
