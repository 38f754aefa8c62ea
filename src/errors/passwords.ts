/** What stands in the place of a password. */
const HIDDEN = "***";

/** `scheme://user:password@`; up to the last `@` before the path, because some passwords have one. */
const IN_URL = /([a-z][a-z0-9+.-]*:\/\/[^\s/@:"'<>]*:)[^\s/"'<>]+@/gi;
/** `password=…` in a query or a connection string. */
const IN_PAIR = /\b((?:pg)?password|passwd|pwd)(\s*=\s*)("[^"]*"|'[^']*'|[^\s&;,"']+)/gi;
const KEY = /^(?:pg)?passw(?:or)?d$/i;

/** The text without the passwords of URLs and connection strings. */
export function hidePasswords(text: string): string {
  // Most texts have neither, and errors can be many.
  if (!text.includes("://") && !text.includes("=")) return text;
  return text.replaceAll(IN_URL, `$1${HIDDEN}@`).replaceAll(IN_PAIR, `$1$2${HIDDEN}`);
}

/**
 * Whether a text is the name of something, such as a path, which has to be told as it is: it begins with a slash, or
 * has neither a space nor a scheme.
 */
function isName(text: string): boolean {
  return text.startsWith("/") || !/\s|:\/\//.test(text);
}

/** The value with the passwords in all its texts hidden; the same value when there are none. Names stay as they are. */
export function hideAllPasswords<T>(value: T): T {
  return hideIn(value) as T;
}

function hideIn(value: unknown): unknown {
  if (typeof value === "string") return isName(value) ? value : hidePasswords(value);
  if (Array.isArray(value)) {
    const items = value.map(hideIn);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, hideIn(item)] as const);
  return entries.some(([key, item]) => item !== value[key]) ? Object.fromEntries(entries) : value;
}

/** Where in a value a password stands, as keys with dots; null when there is none. */
export function findPassword(value: unknown, at = ""): string | null {
  if (typeof value === "string") return hideIn(value) === value ? null : at;
  if (typeof value !== "object" || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    const place = at === "" ? key : `${at}.${key}`;
    if (KEY.test(key) && typeof item === "string") return place;
    const found = findPassword(item, place);
    if (found !== null) return found;
  }
  return null;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
