import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ordinaryUser } from "../support/privilege.ts";
import { faultPoints, parsePoints, runWithFault, type TracedProgram } from "../support/strace.ts";
import { tempFolder } from "../support/temp.ts";

function say(folder: string): TracedProgram {
  const program = new URL("./programs/say.ts", import.meta.url);
  return { program, args: [folder, "one"], touching: [folder] };
}

it("lists the calls that change something in a folder, in their order", async () => {
  const points = await faultPoints(say(tempFolder()));
  expect(points.map(({ call }) => call)).toEqual(["mkdir", "openat", "write", "rename"]);
});

it("kills the program before each of these calls", async () => {
  const points = await faultPoints(say(tempFolder()));
  const reached = [];
  for (const point of points) {
    const folder = tempFolder();
    const run = await runWithFault(say(folder), point, { signal: "KILL" });
    expect(run).toMatchObject({ fired: true, signal: "SIGKILL" });
    reached.push(
      ["made", "made/draft", "made/final"].filter((name) => existsSync(join(folder, name))),
    );
  }
  expect(reached).toEqual([[], ["made"], ["made", "made/draft"], ["made", "made/draft"]]);
});

it("lets one call fail with the error that was asked for", async () => {
  const folder = tempFolder();
  const point = { call: "rename", occurrence: 1, mainThread: true };
  const run = await runWithFault(say(folder), point, { error: "ENOSPC" });
  expect(run).toMatchObject({ fired: true, code: 1 });
  expect(run.stderr).toContain("ENOSPC");
});

it("says so when the point was not reached", async () => {
  const point = { call: "rename", occurrence: 1000, mainThread: true };
  const run = await runWithFault(say(tempFolder()), point, { signal: "KILL" });
  expect(run).toMatchObject({ fired: false, code: 0 });
});

it("works for a user without privilege", async () => {
  const user = ordinaryUser();
  const traced = { ...say(user.home), options: { uid: user.uid, env: user.env } };
  const point = { call: "rename", occurrence: 1, mainThread: true };
  const run = await runWithFault(traced, point, { signal: "KILL" });
  expect(run).toMatchObject({ fired: true, signal: "SIGKILL" });
  expect(existsSync(join(user.home, "made/draft"))).toBe(true);
});

it("counts calls for each thread and each kind, and leaves out what only looks", () => {
  const trace = [
    '10 openat(AT_FDCWD</>, "/lib/x", O_RDONLY|O_CLOEXEC) = 3</lib/x>',
    '10 openat(AT_FDCWD</>, "/data/a", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</data/a>',
    '11 openat(AT_FDCWD</>, "/data/b", O_WRONLY|O_CREAT, 0666 <unfinished ...>',
    '10 openat(AT_FDCWD</>, "/data/a", O_RDONLY) = 4</data/a>',
    "11 <... openat resumed>) = 5</data/b>",
    "10 ioctl(3</data/a>, BTRFS_IOC_CLONE or FICLONE, 4</data/a>) = -1 EOPNOTSUPP",
    "10 ioctl(3</data/a>, TCGETS, 0x7ffd) = -1 ENOTTY",
    "10 +++ exited with 0 +++",
  ].join("\n");
  const points = parsePoints(trace, ["/data"]);
  expect(
    points.map(({ call, occurrence, mainThread }) => ({ call, occurrence, mainThread })),
  ).toEqual([
    { call: "openat", occurrence: 2, mainThread: true },
    { call: "openat", occurrence: 1, mainThread: false },
    { call: "ioctl", occurrence: 1, mainThread: true },
  ]);
});
