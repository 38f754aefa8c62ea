/** The way from the root of a configuration to one value. */
export type KeyPath = readonly (string | number)[];

/** The path as people write it: `resources.app.parents[0]`; keys that are not plain words stand in quotes. */
export function renderKeyPath(path: KeyPath): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    if (!/^[\p{L}\p{N}_-]+$/u.test(key)) return `${text}[${JSON.stringify(key)}]`;
    return text === "" ? key : `${text}.${key}`;
  }, "");
}
