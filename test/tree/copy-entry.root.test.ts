import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyFileTo } from "../../src/tree/copy-entry.ts";
import { readEntry } from "../../src/tree/read-entry.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";

function openFolder(path: string): number {
  const fd = openSync(path, "r");
  onTestFinished(() => closeSync(fd));
  return fd;
}

function twoFolders(root = tempFolder()): {
  from: string;
  to: string;
  fromFd: number;
  toFd: number;
} {
  const [from, to] = [join(root, "from"), join(root, "to")];
  mkdirSync(from);
  mkdirSync(to);
  return { from, to, fromFd: openFolder(from), toFd: openFolder(to) };
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: "latin1", stdio: ["ignore", "pipe", "pipe"] });
}

test("copies content, mode, owner, nanosecond times, attributes and access lists of a file (R168, R171, R184)", () => {
  const { from, to, fromFd, toFd } = twoFolders();
  for (const [index, mode] of [0o400, 0o500, 0o711, 0o640].entries()) {
    const file = join(from, `f${index}`);
    writeFileSync(file, `content ${index}`);
    lchownSync(file, 1000 + index, 2000);
    chmodSync(file, mode);
    run("setfattr", "-n", "user.note", "-v", "kept", file);
    run("setfacl", "-m", "u:1234:r", file);
    run("touch", "-d", "1999-03-04 05:06:07.123456789 UTC", file);
    copyFileTo(fromFd, `f${index}`, toFd, `f${index}`, { reflink: "auto" });
  }
  expectOracleEqual(takeOracle(from), takeOracle(to), { ignore: ["rootMtime"] });
});

test("gives a copy none of the attributes that its new folder would pass on", () => {
  const { from, to, fromFd, toFd } = twoFolders();
  writeFileSync(join(from, "f"), "x");
  run("setfacl", "-d", "-m", "u:1234:rwx", to);
  copyFileTo(fromFd, "f", toFd, "f", { reflink: "auto" });
  expect(run("getfattr", "-d", "-m", "-", join(to, "f"))).toBe("");
});

test("leaves setuid, setgid and sticky out of a copy unless told to keep them (R231)", () => {
  const { from, to, fromFd, toFd } = twoFolders();
  writeFileSync(join(from, "f"), "x");
  chmodSync(join(from, "f"), 0o6755);
  copyFileTo(fromFd, "f", toFd, "without", { reflink: "auto" });
  copyFileTo(fromFd, "f", toFd, "with", { reflink: "auto", specialBits: true });
  expect(run("find", to, "-perm", "/7000")).toBe(`${join(to, "with")}\n`);
  expect(lstatSync(join(to, "without")).mode & 0o7777).toBe(0o755);
});

test("keeps the holes of a sparse file (R172)", () => {
  const { from, to, fromFd, toFd } = twoFolders();
  run("truncate", "-s", "1G", join(from, "sparse"));
  run(
    "dd",
    "if=/dev/urandom",
    `of=${join(from, "sparse")}`,
    "bs=4096",
    "count=3",
    "seek=70000",
    "conv=notrunc",
  );
  for (const reflink of ["auto", "never"] as const) {
    copyFileTo(fromFd, "sparse", toFd, reflink, { reflink });
    expect(lstatSync(join(to, reflink)).size).toBe(1 << 30);
    run("cmp", "-i", "280000000", "-n", "10000000", join(from, "sparse"), join(to, reflink));
    expect(Number(run("du", "-k", join(to, reflink)).split("\t")[0])).toBeLessThan(200);
  }
});

test("shares blocks where the file system can and copies bytes otherwise (R195)", () => {
  const root = tempFolder();
  const image = join(root, "image");
  run("truncate", "-s", "200M", image);
  run("mkfs.btrfs", "-q", image);
  mkdirSync(join(root, "btrfs"));
  run("mount", "-o", "loop", image, join(root, "btrfs"));
  try {
    const place = join(root, "btrfs");
    run("dd", "if=/dev/urandom", `of=${join(place, "f")}`, "bs=1M", "count=4");
    const [shared, outside] = [openSync(place, "r"), openSync(root, "r")];
    try {
      expect(copyFileTo(shared, "f", shared, "clone", { reflink: "always" }).method).toBe(
        "reflink",
      );
      expect(copyFileTo(shared, "f", shared, "bytes", { reflink: "never" }).method).not.toBe(
        "reflink",
      );
      expect(copyFileTo(shared, "f", outside, "away", { reflink: "auto" }).method).toBe("read");
      expect(() => copyFileTo(shared, "f", outside, "none", { reflink: "always" })).toThrow(
        expect.objectContaining({ code: "ENOTSUP" }),
      );
    } finally {
      closeSync(shared);
      closeSync(outside);
    }
    expect(existsSync(join(root, "none"))).toBe(false);
    run("sync", "-f", place);
    const extents = (name: string): string[] =>
      [...run("filefrag", "-v", join(place, name)).matchAll(/:\s+\d+\.\.\s*\d+:\s+(\d+)\.\./g)].map(
        (m) => m[1] ?? "",
      );
    expect(extents("clone")).toEqual(extents("f"));
    expect(extents("bytes")).not.toEqual(extents("f"));
    const sums = run(
      "sha256sum",
      join(place, "f"),
      join(place, "clone"),
      join(place, "bytes"),
      join(root, "away"),
    );
    expect(
      new Set(
        sums
          .trim()
          .split("\n")
          .map((line) => line.slice(0, 64)),
      ).size,
    ).toBe(1);
  } finally {
    run("umount", join(root, "btrfs"));
  }
});

test("refuses folders, links and special files without opening them (R169)", async () => {
  const { from, to, fromFd, toFd } = twoFolders();
  run("mkfifo", join(from, "fifo"));
  run("mknod", join(from, "device"), "c", "1", "3");
  mkdirSync(join(from, "folder"));
  symlinkSync("/etc/passwd", join(from, "link"));
  const server = createServer();
  server.listen(join(from, "socket"));
  await once(server, "listening");
  try {
    const reasons = {
      fifo: "special",
      device: "special",
      socket: "special",
      folder: "directory",
      link: "symlink",
    };
    for (const [name, reason] of Object.entries(reasons)) {
      expect(() => copyFileTo(fromFd, name, toFd, name, { reflink: "auto" })).toThrow(
        expect.objectContaining({ code: "SANDBOX_PATH", data: { path: name, reason } }),
      );
    }
  } finally {
    server.close();
  }
  expect(readdirSync(to)).toEqual([]);
});

test("never copies what is behind a link that somebody swaps in (R232)", async () => {
  const { from, to, fromFd, toFd } = twoFolders();
  writeFileSync(join(from, "plain"), "harmless");
  writeFileSync(join(from, "secret"), "secret");
  const swapping = `cd "$0" && ln -s secret link && cp plain f && while :; do ln -f plain a && mv -f a f; cp -P link b && mv -f b f; done`;
  const swapper = spawn("sh", ["-c", swapping, from], { stdio: "ignore" });
  try {
    while (!existsSync(join(from, "f"))) await new Promise((resolve) => setTimeout(resolve, 5));
    let copied = 0;
    const codes = new Set<string>();
    for (let round = 0; round < 10_000; round++) {
      try {
        copyFileTo(fromFd, "f", toFd, `c${round}`, { reflink: "auto" });
        copied++;
      } catch (error) {
        codes.add((error as { code: string }).code);
      }
    }
    expect(copied).toBeGreaterThan(0);
    expect(["SANDBOX_PATH", "ESTALE", "ENOENT"]).toEqual(expect.arrayContaining([...codes]));
  } finally {
    swapper.kill("SIGKILL");
    await once(swapper, "exit");
  }
  expect(run("find", to, "-type", "f", "-exec", "grep", "-q", "secret", "{}", ";", "-print")).toBe(
    "",
  );
  expect(run("find", to, "!", "-type", "f", "!", "-path", to)).toBe("");
});

test("leaves nothing behind when the target runs full", () => {
  const root = tempFolder();
  mkdirSync(join(root, "small"));
  run("mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", join(root, "small"));
  try {
    run("dd", "if=/dev/urandom", `of=${join(root, "big")}`, "bs=1M", "count=3");
    const [fromFd, toFd] = [openSync(root, "r"), openSync(join(root, "small"), "r")];
    try {
      expect(() => copyFileTo(fromFd, "big", toFd, "big", { reflink: "auto" })).toThrow(
        expect.objectContaining({ code: "ENOSPC" }),
      );
    } finally {
      closeSync(fromFd);
      closeSync(toFd);
    }
    expect(readdirSync(join(root, "small"))).toEqual([]);
  } finally {
    run("umount", join(root, "small"));
  }
});

test("reads an entry with link text and attributes but without overlay marks (R165)", () => {
  const { from, fromFd } = twoFolders();
  const odd = Buffer.from([0x66, 0xff, 0x0a, 0x67]);
  execFileSync("sh", [
    "-c",
    'cd "$0" && ln -s "$(printf "no where\\377")" "$(printf "f\\377\\ng")"',
    from,
  ]);
  const link = readEntry(fromFd, odd.toString("latin1"));
  expect(link).toMatchObject({ type: "symlink", target: "no where\xff", xattrs: null });
  writeFileSync(join(from, "f"), "12345");
  run("setfattr", "-n", "user.kept", "-v", "1", join(from, "f"));
  for (const mark of [
    "trusted.overlay.origin",
    "user.overlay.opaque",
    "user.fuseoverlayfs.origin",
  ]) {
    run("setfattr", "-n", mark, "-v", "y", join(from, "f"));
  }
  expect(readEntry(fromFd, "f")).toMatchObject({
    type: "file",
    size: 5,
    xattrs: { "user.kept": "1" },
  });
  run("mkfifo", join(from, "fifo"));
  expect(readEntry(fromFd, "fifo")).toMatchObject({ type: "special", special: "fifo" });
  expect(readFileSync(join(from, "f"), "utf8")).toBe("12345");
});
