import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** What we use of koffi. */
export type Koffi = Pick<typeof import("koffi"), "load" | "address" | "errno">;

/**
 * Loads koffi for a module. Its binary does all the work: the modules around it find it, which takes four times as long
 * as to load it. They are used where the binary does not lie beside them as its installation leaves it.
 * @throws whatever they say when there is no koffi for this machine.
 */
export function loadKoffi(moduleUrl: string): Koffi {
  const load = createRequire(moduleUrl);
  const folders = load.resolve.paths("koffi") ?? [];
  return loadBinary(load, folders) ?? (load("koffi") as Koffi);
}

/** The binary of the koffi that the module would get; null where it is not of the same version, or not for this machine. */
function loadBinary(load: NodeJS.Require, folders: readonly string[]): Koffi | null {
  const folder = folders.find((one) => existsSync(join(one, "koffi")));
  if (folder === undefined) return null;
  const { platform, arch } = process;
  const file = `@koromix/koffi-${platform}-${arch}/${platform}_${arch}/koffi.node`;
  try {
    const manifest = readFileSync(join(folder, "koffi/package.json"), "utf8");
    const { version } = JSON.parse(manifest) as { readonly version: string };
    const found = load(join(folder, file)) as Koffi & { readonly version: string };
    return found.version === version ? found : null;
  } catch {
    // It is made for another C library, or lies elsewhere.
    return null;
  }
}
