import type { Git } from "./git.ts";
import { type OwnLock, holdsLock, publishLock, releaseLock, takeLock } from "./own-lock.ts";
import { appendToPlain, programText } from "./program-files.ts";
import { inRepository } from "./repository.ts";
import type { Site } from "./site.ts";

/** The lock of the branch, or of a HEAD that names a commit itself. */
export function refLock({ repository }: Site, ref: string | null, name: string): OwnLock {
  const folder = ref === null ? repository.gitDirectory : repository.commonDirectory;
  const target = `${folder}/${ref ?? "HEAD"}`;
  const model = `${repository.commonDirectory}/HEAD`;
  return { owner: `${folder}/cofferdam-${name}.ref`, lock: `${target}.lock`, target, model };
}

/** One way of a branch. */
export interface RefSwitch {
  /** Null when HEAD names the commit itself. */
  readonly ref: string | null;
  readonly from: string;
  readonly to: string;
  /** For the log of the branch. */
  readonly message: string;
  readonly name: string;
}

/** What became of a branch: `foreign` when it is at neither end, `locked` when somebody else holds it. */
export type RefOutcome = "moved" | "foreign" | "locked";

/**
 * Moves the branch by compare-and-swap under git's own lock, which we have held since the check; git's own
 * `update-ref` would give its lock back when the process dies. Recognises what is done.
 */
export async function switchRef(git: Git, site: Site, move: RefSwitch): Promise<RefOutcome> {
  const { ref, from, to, name } = move;
  const lock = refLock(site, ref, name);
  const present = await readRef(git, site, ref);
  if (present === to) {
    releaseLock(lock);
    return "moved";
  }
  if (!holdsLock(lock) && !takeLock(lock)) return "locked";
  if ((await readRef(git, site, ref)) !== from) {
    releaseLock(lock);
    return "foreign";
  }
  await log(git, site, move);
  publishLock(lock, Buffer.from(`${to}\n`, "latin1"));
  return "moved";
}

/** The commit that a branch is at; null when there is no such branch. */
export async function readRef(git: Git, site: Site, ref: string | null): Promise<string | null> {
  const { exitCode, stdout } = await git.ask(["rev-parse", "-q", "--verify", ref ?? "HEAD"], {
    ...inRepository(site.repository),
    accept: [0, 1],
  });
  return exitCode === 1 ? null : stdout.toString("utf8").trim();
}

/** Writes the move into the logs that the user keeps, once. */
async function log(git: Git, site: Site, move: RefSwitch): Promise<void> {
  const { ref, from, to, message } = move;
  const { gitDirectory, commonDirectory } = site.repository;
  const commit = await git.run(["cat-file", "commit", to], inRepository(site.repository));
  const who = /^committer (.*)$/m.exec(commit.toString("latin1"))?.[1] ?? "";
  const line = `${from} ${to} ${who}\t${message.split("\n")[0] ?? ""}\n`;
  const files = [`${gitDirectory}/logs/HEAD`];
  if (ref !== null) files.push(`${commonDirectory}/logs/${ref}`);
  for (const file of files) {
    const last = programText(file)?.trimEnd().split("\n").at(-1);
    // Where there is no plain file nobody keeps a log.
    if (last?.startsWith(`${from} ${to} `) === false)
      appendToPlain(file, Buffer.from(line, "utf8"));
  }
}
