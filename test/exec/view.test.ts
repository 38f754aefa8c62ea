import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { type Server, createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type Plan, type PlanResource, SandboxPathError } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";
import { isRunning, openExecSite } from "./site.ts";

it("a command sees the sandbox at the real path, and the resource stays as it was", async () => {
  const { project, plan, run } = await openExecSite();
  const ran = await run(`pwd; echo new > a.txt; rm '${project}/b.txt'; echo more > c.txt; exit 7`);
  expect(ran).toMatchObject({ exitCode: 7, enclosed: { isEnclosed: true }, unreached: [] });
  expect(ran.stdout).toBe(`${project}\n`);
  expect(readdirSync(project).toSorted()).toEqual(["a.txt", "b.txt"]);
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("old\n");
  const { resources } = await plan.diff();
  const kinds = resources["project"]?.changes.map(({ path, kind }) => [path, kind]);
  expect(kinds).toEqual([
    ["a.txt", "modified"],
    ["b.txt", "deleted"],
    ["c.txt", "added"],
  ]);
  expect((await plan.commit()).outcome).toBe("committed");
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("new\n");
});

it("a second command goes on with what the first one left", async () => {
  const { run } = await openExecSite();
  await run("echo first > made.txt; mkdir folder; mv a.txt folder/");
  const { stdout } = await run("cat made.txt folder/a.txt; ls");
  expect(stdout).toBe("first\nold\nb.txt\nfolder\nmade.txt\n");
});

it("writes outside the plan are thrown away and listed", async () => {
  const { home, run } = await openExecSite();
  const ran = await run(
    "echo x > ~/notes.txt; mkdir -p ~/cache/deep ~/empty; echo y > ~/cache/deep/file; cat ~/notes.txt",
  );
  expect(ran.stdout).toBe("x\n");
  expect(ran.outside?.changes).toEqual([
    { path: join(home, "cache/deep/file"), kind: "added" },
    { path: join(home, "empty"), kind: "added" },
    { path: join(home, "notes.txt"), kind: "modified" },
  ]);
  expect(ran.outside?.counts).toEqual({ added: 2, modified: 1, deleted: 0 });
  expect(readFileSync(join(home, "notes.txt"), "utf8")).toBe("mine\n");
  expect((await run("rm ~/notes.txt")).outside?.changes).toEqual([
    { path: join(home, "notes.txt"), kind: "deleted" },
  ]);
  expect(readdirSync(home).toSorted()).toEqual([".local", "notes.txt", "project"]);
});

it("nothing waits for the disk because of what is thrown away", async () => {
  const { home, project, run } = await openExecSite();
  const mounts = (await run("cat /proc/self/mounts")).stdout.trim().split("\n").toReversed();
  /** The options of the mount that a path lies in; the last of several at one place is seen. */
  const optionsAt = (path: string): string => {
    const around = mounts.map((line) => line.split(" ")).filter(([, at = ""]) => isIn(path, at));
    const [found] = around.toSorted(([, a = ""], [, b = ""]) => b.length - a.length);
    return found?.[3] ?? "";
  };
  expect(optionsAt(home)).toContain("volatile");
  expect(optionsAt(project)).not.toContain("volatile");
});

function isIn(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

it("with outside read-only such writes fail, and the sandbox takes its own", async () => {
  const { home, plan, run } = await openExecSite();
  const denied = join("/etc", "made-by-a-test");
  const ran = await run(`echo new > a.txt; echo x > '${denied}'`, { outside: "read-only" });
  expect(ran.exitCode).not.toBe(0);
  expect(ran.stderr).toContain("Read-only file system");
  expect((await plan.diff()).resources["project"]?.changes).toHaveLength(1);
  expect(readdirSync(home)).not.toContain("made");
});

it("with outside allow such writes are real, and the sandbox still takes its own", async () => {
  const { home, project, run } = await openExecSite();
  const ran = await run("echo x > ~/made.txt; echo new > a.txt", { outside: "allow" });
  expect(ran).toMatchObject({ exitCode: 0, outside: null });
  expect(readFileSync(join(home, "made.txt"), "utf8")).toBe("x\n");
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("old\n");
});

it("a command sees neither the state of the engine nor the processes of others", async () => {
  const { coffer, run } = await openExecSite();
  expect((await run(`ls -A '${coffer.stateDirectory}'`)).stdout).toBe("");
  expect((await run(`[ -e /proc/${process.pid} ] || echo none`)).stdout).toBe("none\n");
});

it("a command has the variables that it was given, and no others", async () => {
  const { run } = await openExecSite();
  for (const language of [{}, { LC_ALL: "" }, { LC_ALL: "C.UTF-8" }]) {
    const env = { PATH: "/usr/bin:/bin", ...language };
    const { stdout } = await run("exec env -u PWD -u OLDPWD -u _ -u SHLVL", { env });
    const wanted = Object.entries({ COFFERDAM_PLAN: "plan", ...env }).map((pair) => pair.join("="));
    expect(stdout.trim().split("\n").toSorted()).toEqual(wanted.toSorted());
  }
});

it("what a command leaves running ends with it", async () => {
  const { run } = await openExecSite();
  const mark = `86399.${process.pid}`;
  await run(`setsid sleep ${mark} & sleep ${mark} & exit 0`);
  expect(isRunning(`sleep ${mark}`)).toBe(false);
});

it("a program that is not there gives the code of a shell", async () => {
  const { runArgv } = await openExecSite();
  const env = { PATH: "/usr/bin:/bin" };
  const missing = await runArgv(["no-such-program-anywhere"], { env });
  expect(missing).toMatchObject({ exitCode: 127, enclosed: { isEnclosed: true } });
  expect((await runArgv(["./b.txt"], { env })).exitCode).toBe(126);
});

it("a command that a signal ends gives 128 and its number", async () => {
  const { run } = await openExecSite();
  expect((await run("kill -KILL $$")).exitCode).toBe(137);
});

it("a command reaches a server that listens on a socket in the file system", async () => {
  const { home, runArgv } = await openExecSite();
  const path = join(home, "server.sock");
  const server: Server = createServer((connection) => connection.end("hello"));
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  onTestFinished(() => void server.close());
  const client = `require("node:net").connect(${JSON.stringify(path)}).on("error", (e) => console.log(e.code)).pipe(process.stdout)`;
  const { stdout } = await runArgv([process.execPath, "-e", client]);
  expect(stdout).toBe("hello");
});

it("a home of any name is shown, and what is written there is as everywhere", async () => {
  const odd = "a b#c,d:e=f\\g\th\n\"i'jé%20+@";
  const { home, project, coffer, plan, run, runArgv } = await openExecSite(undefined, odd);
  const ran = await run("echo new > a.txt; echo x > ~/made.txt; cat a.txt ~/made.txt; pwd");
  expect(ran.stdout).toBe(`new\nx\n${project}\n`);
  expect(ran.outside?.changes).toEqual([{ path: join(home, "made.txt"), kind: "added" }]);
  expect((await runArgv(["ls", "-A", coffer.stateDirectory])).stdout).toBe("");
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("old\n");
  expect((await plan.diff()).resources["project"]?.changes).toHaveLength(1);
});

it("without network a command reaches nobody but itself", async () => {
  const { run } = await openExecSite();
  const devices = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '";
  expect((await run(devices, { network: false })).stdout).toBe("lo\n");
});

it("a git worktree works at the place of its own repository, and its commits reach it with the plan", async () => {
  const { project, plan, run } = await openExecSite((home) => {
    const location = join(home, "project");
    const git = (...args: readonly string[]): void =>
      void execFileSync("git", ["-C", location, ...args]);
    git("init", "-q", "-b", "main");
    git("config", "user.name", "Tess");
    git("config", "user.email", "tess@example.invalid");
    git("add", "-A");
    git("commit", "-q", "-m", "first");
    return [{ id: "code", type: "git-repository", location }];
  });
  const script =
    "git status --short; echo new > a.txt; git commit -qam inside; git log --format=%s";
  for (const outside of ["discard", "allow"] as const) {
    const ran = await run(outside === "discard" ? script : "git log --format=%s", { outside });
    expect(ran.stdout).toBe("inside\nfirst\n");
  }
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("old\n");
  expect((await plan.commit()).outcome).toBe("committed");
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("new\n");
});

it("a command that would start in a folder which the sandbox lacks is refused, and told so", async () => {
  const { project, run } = await openExecSite();
  mkdirSync(join(project, "folder"));
  const cwd = join(project, "folder");
  await run("rmdir folder", { outside: "allow" });
  for (const outside of ["discard", "allow"] as const) {
    const attempt = run("echo started > made.txt", { cwd, outside });
    await expect(attempt).rejects.toBeInstanceOf(SandboxPathError);
    await expect(attempt).rejects.toMatchObject({ data: { path: cwd, reason: "missing" } });
  }
  expect((await run("ls")).stdout).toBe("a.txt\nb.txt\n");
});

it("a home with the state of the engine in it is a resource like any other", async () => {
  const { home, coffer, plan, run } = await openExecSite((location) => [homeAt(location)]);
  const ran = await run(`ls -A '${coffer.stateDirectory}' 2>/dev/null; echo new > ~/notes.txt`);
  expect(ran).toMatchObject({ exitCode: 0, stdout: "" });
  expect(readFileSync(join(home, "notes.txt"), "utf8")).toBe("mine\n");
  expect(await changedIn(plan)).toEqual(["notes.txt"]);
});

it("the place of a repository that a worktree hides is no edit of a home around it", async () => {
  const location = tempFolder();
  const { plan, run } = await openExecSite((home) => {
    const commit = ["commit", "-q", "--allow-empty", "-m", "first"];
    execFileSync("git", ["init", "-q", location]);
    execFileSync("git", ["-C", location, "-c", "user.name=T", "-c", "user.email=t@t", ...commit]);
    return [homeAt(home), { id: "code", type: "git-repository", location }];
  });
  expect((await run(`git -C '${location}' log --format=%s`)).stdout).toBe("first\n");
  expect(await changedIn(plan)).toEqual([]);
});

function homeAt(location: string): PlanResource {
  return { id: "home", type: "fs-directory", location };
}

async function changedIn(plan: Plan): Promise<string[]> {
  const { resources } = await plan.diff();
  return Object.values(resources).flatMap(({ changes }) => changes.map(({ path }) => path));
}
