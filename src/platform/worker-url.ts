/**
 * The address of a module for a worker thread, named as in the sources (`"./worker.ts"`) relative to
 * the module that asks (`import.meta.url`). A compiled module gets the compiled file beside it.
 */
export function workerUrl(relative: string, base: string): URL {
  // tsc rewrites extensions in imports, not in addresses.
  return new URL(base.endsWith(".js") ? relative.replace(/\.ts$/, ".js") : relative, base);
}
