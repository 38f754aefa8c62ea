import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ChildResult } from "./child.ts";
import { nobody } from "./nobody.ts";
import { tempFolder } from "./temp.ts";

/** A user without privilege, with places of its own to write to. */
export interface OrdinaryUser {
  readonly uid: number;
  readonly gid: number;
  /** Readable for everybody, writable for this user; gone when the test has finished. */
  readonly home: string;
  /** HOME, TMPDIR and XDG_STATE_HOME inside `home`; to be passed to every child. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Gives the running test an ordinary user: "nobody" with a fresh home when the suite runs as root,
 * else the user of the suite itself.
 */
export function ordinaryUser(): OrdinaryUser {
  const own = process.getuid?.() ?? 0;
  const { uid, gid } = own === 0 ? nobody : { uid: own, gid: process.getgid?.() ?? own };
  const home = tempFolder({ mode: 0o755 });
  const env = { HOME: home, TMPDIR: join(home, "tmp"), XDG_STATE_HOME: join(home, "state") };
  mkdirSync(env.TMPDIR);
  for (const path of [home, env.TMPDIR]) chownSync(path, uid, gid);
  return { uid, gid, home, env };
}

/** Runs a program as that user in its home, with the supplementary groups of root dropped. */
export function runAs(
  user: OrdinaryUser,
  command: string,
  args: readonly string[] = [],
  options: { readonly cwd?: string } = {},
): ChildResult {
  const done = spawnSync(command, args, {
    cwd: options.cwd ?? user.home,
    env: { PATH: process.env["PATH"], ...user.env },
    encoding: "utf8",
    uid: user.uid,
    gid: user.gid,
  });
  if (done.error) throw done.error;
  return { code: done.status, signal: done.signal, stdout: done.stdout, stderr: done.stderr };
}
