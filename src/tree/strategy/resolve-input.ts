import { PathEscapeError } from "../../errors/index.ts";
import {
  type PathInput,
  type RelativePath,
  displayPath,
  isWithin,
  parseRelativePath,
  toBytePath,
} from "../../model/byte-path.ts";
import { pathError } from "../beneath.ts";
import type { SandboxPlace } from "../workspace.ts";

/**
 * A caller's path inside a sandbox. A single-file resource is reached by its own name or by the empty path; everything
 * else is outside. `root` lets the empty path stand for the directory itself.
 * @throws PathEscapeError (`PATH_ESCAPE`) or SandboxPathError (`SANDBOX_PATH`, outside).
 */
export function resolveInput(
  place: SandboxPlace,
  input: PathInput,
  empty: "root" | "file" = "file",
): RelativePath {
  const parsed = parseRelativePath(input);
  if (parsed.problem !== undefined) {
    throw new PathEscapeError(`The path is not inside the resource (${parsed.problem})`, {
      hint: "Give a path relative to the root of the resource.",
      data: { requested: displayPath(toBytePath(input)), root: displayPath(place.root) },
    });
  }
  const { path } = parsed;
  if (place.only !== null) {
    if (path === "" && empty === "root") return path;
    if (path === "" || path === (place.only as string))
      return place.only as unknown as RelativePath;
    throw pathError(path, "outside");
  }
  if (place.exclude.some((own) => isWithin(path, own))) throw pathError(path, "missing");
  return path;
}

/** Several of a caller's paths; the empty one stands for everything. */
export function resolveInputs(place: SandboxPlace, paths: readonly PathInput[]): RelativePath[] {
  return paths.map((path) => resolveInput(place, path, "root"));
}
