import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AtomicCommitError, openCofferdam } from "../../src/index.ts";
import type { SandboxRef } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";
import { checkout, readPage } from "./markdown.ts";
import { PageProject } from "./page-project.ts";

/** The strategy of the page, in a process that is killed in the phase that the environment names. */
const KILLED_DRAFT = `
import { TwoPhaseDraft } from "./two-phase-draft.ts";

const [kind, phase, moment] = (process.env.KILLED_IN ?? "").split(" ");

export class KilledDraft extends TwoPhaseDraft {}

const original = TwoPhaseDraft.prototype[phase];
if (original !== undefined) {
  KilledDraft.prototype[phase] = async function (ref, tx, options) {
    if (tx.kind === kind && moment === "before") process.kill(process.pid, "SIGKILL");
    const answer = await original.call(this, ref, tx, options);
    if (tx.kind === kind && moment === "after") process.kill(process.pid, "SIGKILL");
    return answer;
  };
}

export class FailingDraft extends TwoPhaseDraft {
  commitPrepared() {
    throw new Error("always");
  }
}
`;

const PROGRAM = `
import { writeFileSync } from "node:fs";
import { openCofferdam } from "cofferdam";

const cofferdam = await openCofferdam({ stateDirectory: "state" });
const ref = await cofferdam.create("letters", "letter");
writeFileSync("ref.json", JSON.stringify(ref));
const sandbox = cofferdam.sandbox(ref);
await sandbox.write("letter.txt", "new\\n");
await sandbox.commit();
await sandbox.rollback();
`;

const CONFIGURATION = `
resources:
  letter: { type: fs-file, location: ./letter.txt, strategy: "./killed-draft.ts:KilledDraft" }
  other: { type: fs-file, location: ./other.txt, strategy: "./killed-draft.ts:FailingDraft" }
`;

/** A project with the strategies of the page and two files. */
class Letters {
  readonly #folder = tempFolder();

  constructor() {
    new PageProject(readPage(checkout, "docs/write-a-strategy.md"), this.#folder);
    this.write("killed-draft.ts", KILLED_DRAFT);
    this.write("program.mjs", PROGRAM);
    this.write("cofferdam.yaml", CONFIGURATION);
    for (const name of ["letter.txt", "other.txt"]) this.write(name, "old\n");
  }

  get options(): { config: string; stateDirectory: string } {
    const config = join(this.#folder, "cofferdam.yaml");
    return { config, stateDirectory: join(this.#folder, "state") };
  }

  get ref(): SandboxRef {
    return JSON.parse(this.read("ref.json")) as SandboxRef;
  }

  /** What the sandbox keeps for itself. */
  get kept(): string[] {
    return readdirSync(this.ref.metadata["folder"] as string).sort();
  }

  read(name: string): string {
    return readFileSync(join(this.#folder, name), "utf8");
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text);
  }

  /** Writes, commits and takes the commit back in another process, until it is killed. */
  killIn(point: string): void {
    const env = { PATH: process.env["PATH"], HOME: this.#folder, KILLED_IN: point };
    const done = spawnSync(process.execPath, ["program.mjs"], { cwd: this.#folder, env });
    expect({ signal: done.signal, stderr: done.stderr.toString() }).toEqual({
      signal: "SIGKILL",
      stderr: "",
    });
  }
}

const POINTS = ["prepare", "fence", "commitPrepared", "forget"].flatMap((phase) =>
  ["before", "after"].map((moment) => ({ phase, moment, isDecided: /commit|forget/.test(phase) })),
);
const COMMITS = POINTS.map(({ phase, moment, isDecided }) => ({
  point: `commit ${phase} ${moment}`,
  ...(isDecided ? { text: "new\n", status: "COMMITTED" } : { text: "old\n", status: "ACTIVE" }),
}));
const UNDOS = POINTS.map(({ phase, moment, isDecided }) => ({
  point: `undo ${phase} ${moment}`,
  ...(isDecided
    ? { text: "old\n", status: "ROLLED_BACK" }
    : { text: "new\n", status: "COMMITTED" }),
}));

test.for([...COMMITS, ...UNDOS])(
  "the strategy of the page is killed in $point and is all done or not at all (R23)",
  async ({ point, text, status }) => {
    const letters = new Letters();
    letters.killIn(point);
    await using cofferdam = await openCofferdam(letters.options);
    expect(cofferdam.opening.recovery).toMatchObject({ complete: true });
    expect(letters.read("letter.txt")).toBe(text);
    expect(await cofferdam.status(letters.ref)).toBe(status);
    expect(letters.kept).toEqual(["base", "draft"]);
  },
);

test("the strategy of the page leaves alone what somebody wrote before recovery, and says so", async () => {
  const letters = new Letters();
  letters.killIn("commit commitPrepared before");
  letters.write("letter.txt", "theirs\n");
  await using cofferdam = await openCofferdam(letters.options);
  expect(cofferdam.opening.recovery).toMatchObject({ complete: true });
  expect(letters.read("letter.txt")).toBe("theirs\n");
  const { lastResult } = await cofferdam.describe(letters.ref);
  expect(lastResult?.warnings).toHaveLength(1);
});

test("the strategy of the page is taken back when a later member of the plan fails (R130)", async () => {
  const letters = new Letters();
  await using cofferdam = await openCofferdam(letters.options);
  const plan = await cofferdam.plan("letters", ["letter", "other"]);
  for (const name of ["letter", "other"]) await plan.sandbox(name).write(`${name}.txt`, "new\n");
  await expect(plan.commit()).rejects.toBeInstanceOf(AtomicCommitError);
  expect([letters.read("letter.txt"), letters.read("other.txt")]).toEqual(["old\n", "old\n"]);
  expect((await plan.diff()).isEmpty).toBe(false);
  await plan.cleanup();
});
