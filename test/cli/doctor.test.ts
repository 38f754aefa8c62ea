import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MachineReport } from "../../src/index.ts";
import { linkPackage } from "../support/package-folder.ts";
import { coffer, type Home, listing, makeHome, run } from "./coffer.ts";

function reportOf(
  home: Home,
  env: Record<string, string> = {},
): MachineReport & { code: number | null } {
  const { code, stdout, stderr } = coffer(home, ["doctor", "--json"], { env });
  expect(stderr).toBe("");
  return { ...(JSON.parse(stdout) as MachineReport), code };
}

function said(command: string, ...args: readonly string[]): string {
  return spawnSync(command, args, { encoding: "utf8" }).stdout.trim();
}

test("tells what other programs tell too: kernel, user, git", () => {
  const home = makeHome();
  const report = reportOf(home);
  expect(report).toMatchObject({
    code: 0,
    usable: true,
    path: home.project,
    configFile: null,
    kernel: said("uname", "-r"),
    uid: Number(said("id", "-u")),
    node: process.version,
    nativeCalls: { works: true },
    git: { works: true, version: said("git", "--version").replace("git version ", "") },
    state: { works: true, directory: home.stateDirectory },
    area: { works: true, path: join(home.stateDirectory, "area"), foundBy: "state" },
    interrupted: [],
  });
});

test("answers in this form", () => {
  expect(Object.keys(reportOf(makeHome())).toSorted()).toEqual([
    "area",
    "areas",
    "code",
    "configFile",
    "exchange",
    "fuseOverlay",
    "git",
    "interrupted",
    "kernel",
    "kernelOverlay",
    "nativeCalls",
    "node",
    "ownFiles",
    "path",
    "reflink",
    "state",
    "uid",
    "usable",
    "userNamespaceOverlay",
  ]);
});

test("says the same in words", () => {
  const home = makeHome();
  const { code, stdout } = coffer(home, ["doctor"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^ {2}kernel +${said("uname", "-r")}$`, "m"));
  expect(stdout).toContain(`Tried out for ${home.project}\n`);
  expect(stdout).toMatch(/^ {2}layers and undo data +\S+ \(in the state directory\)$/m);
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("Sandboxes can be made here.");
});

test("ends with 1 and the reason where no sandbox can be made", () => {
  const home = makeHome();
  const open = join(home.folder, "open");
  mkdirSync(open);
  chmodSync(open, 0o777);
  const report = reportOf(home, { XDG_STATE_HOME: open });
  expect(report).toMatchObject({
    code: 1,
    usable: false,
    state: { works: false, directory: join(open, "cofferdam") },
    area: { works: false, path: null },
  });
  expect(report.state.hint).toBeTypeOf("string");
  const { stdout } = coffer(home, ["doctor"], { env: { XDG_STATE_HOME: open } });
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("No sandbox can be made here.");
});

test("names the Debian package of a program that is missing", () => {
  const home = makeHome();
  const bin = join(home.folder, "bin");
  mkdirSync(bin);
  const report = reportOf(home, { PATH: bin });
  expect(report.git).toMatchObject({ works: false, version: null, hint: "apt-get install git" });
  expect(report.fuseOverlay).toMatchObject({
    works: false,
    hint: "apt-get install fuse-overlayfs",
  });
  expect(report.userNamespaceOverlay).toMatchObject({
    works: false,
    hint: "apt-get install util-linux mount",
  });
  expect(report.usable).toBe(true);
});

test("uses the state directory of the configuration and lists the areas that are in use", () => {
  const home = makeHome({ "cofferdam.yaml": "state: { directory: ../own }\n", "data/file": "" });
  linkPackage(home.project);
  const program = `
    import { openCofferdam } from "cofferdam";
    const cofferdam = await openCofferdam();
    await cofferdam.create("plan", "data", { strategy: "filesystem_copy" });
  `;
  const made = run(home, process.execPath, ["--input-type=module", "-e", program]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const own = join(home.folder, "own");
  expect(reportOf(home)).toMatchObject({
    configFile: join(home.project, "cofferdam.yaml"),
    state: { directory: own },
    areas: [{ path: join(own, "area"), foundBy: "state" }],
  });
  expect(coffer(home, ["doctor"]).stdout).toMatch(/^ {2}area in use +\S+\/own\/area /m);
});

test("leaves nothing behind but the state directory itself", () => {
  const home = makeHome();
  const before = listing(home.project);
  reportOf(home);
  expect(listing(home.project)).toBe(before);
  expect(listing(home.stateDirectory)).not.toMatch(/probe|^area d/m);
});

test("tells of work whose process was killed, and leaves it as it is", () => {
  const home = makeHome({ "data/file": "old\n" });
  linkPackage(home.project);
  const program = `
    import { FilesystemCopyStrategy, openCofferdam } from "cofferdam";
    class Killed extends FilesystemCopyStrategy {
      commitPrepared() { process.kill(process.pid, "SIGKILL"); return new Promise(() => {}); }
    }
    const cofferdam = await openCofferdam({ strategies: { killed: Killed } });
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", "data", { strategy: "killed" }));
    await sandbox.write("file", "new\\n");
    await sandbox.commit();
  `;
  const killed = run(home, process.execPath, ["--input-type=module", "-e", program]);
  expect(killed.signal).toBe("SIGKILL");
  const { interrupted } = reportOf(home);
  expect(interrupted).toMatchObject([
    { kind: "commit", decision: "COMMIT", locations: [join(home.project, "data")] },
  ]);
  const { stdout } = coffer(home, ["doctor"]);
  expect(stdout).toMatch(/^ {2}interrupted work +commit \w+ since \S+Z: \S+\/data$/m);
  expect(reportOf(home).interrupted).toEqual(interrupted);
});
