import { existsSync } from "node:fs";
import { copyFile, mkdir, rm } from "node:fs/promises";
import type { RelativePath } from "../../model/byte-path.ts";
import { joinZero, splitZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { inRepository } from "./repository.ts";
import { type Site, privately } from "./site.ts";

/**
 * Those of the paths that the user's checkout, as it is set now, leaves out. Git itself decides: it checks empty files
 * of these names out in `folder`, which must not exist and does not afterwards.
 */
export async function outsideCheckout(
  git: Git,
  site: Site,
  paths: readonly RelativePath[],
  folder: string,
): Promise<ReadonlySet<RelativePath>> {
  if (paths.length === 0 || (await setting(git, site, "core.sparseCheckout")) !== "true")
    return new Set();
  const cone = await setting(git, site, "core.sparseCheckoutCone");
  const [files, objects] = [`${folder}/files`, `${folder}/objects`];
  try {
    for (const made of [files, objects]) await mkdir(made, { recursive: true, mode: 0o700 });
    await copyPatterns(site);
    const call = privately(site, { index: `${folder}/index`, files, objects });
    const empty = await git.line(["hash-object", "-w", "--stdin"], { ...call, input: Buffer.of() });
    const input = joinZero(paths.map((path) => `100644 ${empty}\t${path}`));
    await git.run(["update-index", "-z", "--index-info"], { ...call, input });
    const tree = await git.line(["write-tree"], call);
    await rm(`${folder}/index`);
    const settings = ["core.sparseCheckout=true", `core.sparseCheckoutCone=${cone ?? "true"}`];
    const how = settings.flatMap((one) => ["-c", one]);
    await git.run([...how, "read-tree", "-m", "-u", tree], call);
    const listed = splitZero(await git.run([...how, "ls-files", "-t", "-z"], call));
    const left = listed.filter((line) => line.startsWith("S ")).map((line) => line.slice(2));
    return new Set(left as RelativePath[]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function setting(git: Git, { repository }: Site, key: string): Promise<string | null> {
  const call = { ...inRepository(repository), accept: [0, 1] };
  const { exitCode, stdout } = await git.ask(["config", "--type=bool", "--get", key], call);
  return exitCode === 0 ? stdout.toString("utf8").trim() : null;
}

/** The user may have set others since the sandbox was made. */
async function copyPatterns({ repository, privateGit }: Site): Promise<void> {
  const patterns = "info/sparse-checkout";
  const [from, to] = [`${repository.gitDirectory}/${patterns}`, `${privateGit}/${patterns}`];
  if (existsSync(from)) await copyFile(from, to);
  else await rm(to, { force: true });
}
