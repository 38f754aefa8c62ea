import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the repository. */
export const checkout = fileURLToPath(new URL("../..", import.meta.url));

/** Unpacks the package as it would be published into an empty project, with the dependencies that it names. */
export function installPacked(project: string): void {
  const modules = join(project, "node_modules");
  mkdirSync(modules);
  const options = ["--ignore-scripts", "--json", "--pack-destination", project];
  execFileSync("npm", ["pack", ...options], { cwd: checkout, stdio: "pipe" });
  const [tarball = ""] = readdirSync(project).filter((name) => name.endsWith(".tgz"));
  execFileSync("tar", ["-xzf", join(project, tarball), "-C", modules]);
  execFileSync("mv", [join(modules, "package"), join(modules, "cofferdam")]);
  const listed = execFileSync("npm", ["ls", "--omit=dev", "--all", "--parseable"], {
    cwd: checkout,
    encoding: "utf8",
  });
  for (const path of listed.trim().split("\n").slice(1)) {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const target = join(modules, name);
    mkdirSync(join(target, ".."), { recursive: true });
    symlinkSync(path, target);
  }
}
