/** Accepts a path unless it begins with `~`: a shell would have expanded it, here it would become a folder of that name. */
export function refuseTilde(path: string): string | null {
  return path === "~" || path.startsWith("~/") ? "a path without ~" : null;
}
