import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** The files of a directory with what is in them, as other programs read it. */
export function filesIn(folder: string): Readonly<Record<string, string>> {
  const names = execFileSync("find", [folder, "-type", "f", "-printf", "%P\\n"], {
    encoding: "utf8",
  });
  return Object.fromEntries(
    names
      .split("\n")
      .filter((name) => name !== "")
      .toSorted()
      .map((name) => [name, execFileSync("cat", [join(folder, name)], { encoding: "utf8" })]),
  );
}
