import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { type ExecSite, openExecSite } from "./site.ts";

const ATTEMPTS = 5;

/** How the program `mount` was started for one command: a line for each time. */
async function startsOfMount(run: ExecSite["run"]): Promise<string[]> {
  const [folder, log] = [tempFolder(), join(tempFolder(), "log")];
  const program = join(folder, "mount");
  writeFileSync(program, `#!/bin/sh\necho "$*" >> '${log}'\nexec /usr/bin/mount "$@"\n`);
  chmodSync(program, 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
  expect((await run("true", { env })).exitCode).toBe(0);
  return readFileSync(log, "utf8").trim().split("\n");
}

it("one program mounts all that a command sees", async () => {
  const { run } = await openExecSite();
  let starts: string[] = [];
  // Mounts of other tests may end meanwhile, or somebody may listen on a socket.
  for (let attempt = 1; attempt <= ATTEMPTS && starts.length !== 1; attempt++)
    starts = (await startsOfMount(run)).filter((words) => !words.endsWith("/sockets"));
  expect(starts).toEqual([expect.stringMatching(/^-a -T .*\/mounts$/)]);
});

/** A mount that no layer can be put over: it is itself a layer over a layer. */
function mountLayers(folder: string): string {
  const [first, second] = ["first", "second"].map((name) => join(folder, name));
  for (const [lower, at = ""] of [
    [join(folder, "files"), first],
    [first, second],
  ]) {
    for (const name of ["", ".upper", ".work"]) mkdirSync(`${at}${name}`);
    const options = `lowerdir=${lower},upperdir=${at}.upper,workdir=${at}.work`;
    execFileSync("mount", ["-t", "overlay", "overlay", "-o", options, at]);
    onTestFinished(() => void execFileSync("umount", [at]));
  }
  return join(folder, "second");
}

it("a mount that no layer can be put over can only be read, and all others are as ever", async () => {
  const { home, project, run } = await openExecSite();
  const folder = tempFolder();
  mkdirSync(join(folder, "files"));
  writeFileSync(join(folder, "files", "kept.txt"), "kept\n");
  const mount = mountLayers(folder);
  const ran = await run(
    `cat '${mount}/kept.txt'; echo x > '${mount}/made' || echo refused; echo new > a.txt; echo x > ~/made.txt`,
  );
  expect(ran.stdout).toBe("kept\nrefused\n");
  expect(ran.stderr).toContain("Read-only file system");
  expect(ran).toMatchObject({ exitCode: 0, enclosed: { isEnclosed: true } });
  // Other tests may have such mounts too.
  expect(ran.fixed).toContain(mount);
  expect(ran.outside?.changes).toEqual([{ path: join(home, "made.txt"), kind: "added" }]);
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("old\n");
});
