/** An export of a module, or the classes that there are instead. */
export type PickedExport =
  | { readonly found: true; readonly value: unknown }
  | { readonly found: false; readonly classes: readonly string[] };

/**
 * Takes an export out of an imported module. For CommonJS the answer is the same whether or not Node recognised the
 * names in `module.exports`, and `default` of a compiled ES module is its real default.
 */
export function pickExport(namespace: unknown, name: string): PickedExport {
  const layers = [namespace, own(namespace, "default")].filter((layer) => isHolder(layer));
  if (name === "default") {
    const value = defaultOf(namespace);
    if (value !== undefined) return { found: true, value };
  }
  const holder = layers.find((layer) => Object.hasOwn(layer, name));
  if (holder !== undefined) return { found: true, value: own(holder, name) };
  const names = new Set(layers.flatMap((layer) => Object.keys(layer)));
  const classes = [...names].filter((key) =>
    layers.some((layer) => typeof own(layer, key) === "function"),
  );
  return { found: false, classes };
}

function defaultOf(namespace: unknown): unknown {
  const exported = own(namespace, "default");
  // Node gives the whole `module.exports` as the default of a compiled ES module.
  if (own(exported, "__esModule") === true && own(exported, "default") !== undefined) {
    return own(exported, "default");
  }
  if (exported !== undefined) return exported;
  // jiti gives the `module.exports` of a CommonJS file as it is.
  return typeof namespace === "function" ? namespace : undefined;
}

function isHolder(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function own(holder: unknown, key: string): unknown {
  return isHolder(holder) && Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined;
}
