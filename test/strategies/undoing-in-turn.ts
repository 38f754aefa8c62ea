import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Cofferdam, type Sandbox, openCofferdam } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { shell } from "./shell.ts";
import type { Subject } from "./subjects.ts";

const BASE = `
  echo b > b.txt; chmod 640 b.txt; ln -s b.txt link; mkdir folder; echo in > folder/in; echo gone > gone
  echo one > one; ln one two; setfattr -n user.note -v base b.txt
  touch -h -d '2001-01-01 01:01:01.123456789' * */* .
`;

/** What each of three plans does to the same paths, one after the other. */
const PLANS = {
  p: `
    echo PPPP > b.txt; setfattr -n user.note -v p b.txt; ln -sfn p link; echo p > folder/in; chmod 711 folder; rm gone
    echo new > new; mkdir made; echo x > made/x; ln made/x made/y; echo uno > one; rm two; ln one two
  `,
  q: `
    echo QQ > b.txt; ln -sfn q link; rm folder/in; chmod 700 folder; echo back > gone; mv new renamed
    rm -r made; rm one two; echo other > one; ln -s one two
  `,
  s: `
    rm b.txt; mkdir b.txt; echo s > b.txt/s; rm link; echo s > link; echo s > folder/in; rm gone; echo s > new
    chmod 600 renamed; mkdir made; echo s > made/x; rm one; echo s > two
  `,
} as const;

/** A real directory, and an installation whose plans each have a sandbox of it. */
interface Desk {
  readonly real: string;
  open(planId: string): Promise<Sandbox>;
  /** Makes a plan, lets it edit, and commits. */
  commit(planId: string, script: string): Promise<Sandbox>;
}

/** What holds when several plans commit to the same paths and are taken back, the last one first. */
export function testUndoingInTurn(subjects: readonly Subject[]): void {
  const opened: { coffer: Cofferdam; sandboxes: Sandbox[] }[] = [];

  afterEach(async () => {
    for (const { coffer, sandboxes } of opened.splice(0)) {
      for (const sandbox of sandboxes) await sandbox.cleanup({ force: true });
      await coffer.close();
    }
  });

  async function makeDesk(subject: Subject, base: string, file?: string): Promise<Desk> {
    const folder = tempFolder();
    const real = join(folder, "real");
    shell(folder, "mkdir real");
    shell(real, base);
    const stateDirectory = join(folder, "state");
    const coffer = await openCofferdam({ stateDirectory, config: false });
    const sandboxes: Sandbox[] = [];
    opened.push({ coffer, sandboxes });
    const { strategy, properties = {} } = subject;
    const type = file === undefined ? "fs-directory" : "fs-file";
    const location = file === undefined ? real : join(real, file);
    const open = async (planId: string): Promise<Sandbox> => {
      const resource = { resourceId: "r", type, location, properties };
      const sandbox = coffer.sandbox(await coffer.create(planId, resource, { strategy }));
      sandboxes.push(sandbox);
      return sandbox;
    };
    return {
      real,
      open,
      async commit(planId, script) {
        const sandbox = await open(planId);
        const path = await sandbox.getPath();
        shell(file === undefined ? path : join(path, ".."), script);
        await sandbox.commit();
        return sandbox;
      },
    };
  }

  describe.each(subjects)("$name", (subject) => {
    test("three plans that changed the same paths are taken back in turn, each exactly (R33)", async () => {
      const desk = await makeDesk(subject, BASE);
      const before = takeOracle(desk.real);
      const p = await desk.commit("p", PLANS.p);
      const afterP = takeOracle(desk.real);
      const q = await desk.commit("q", PLANS.q);
      const afterQ = takeOracle(desk.real);
      const s = await desk.commit("s", PLANS.s);
      await s.rollback();
      expectOracleEqual(afterQ, takeOracle(desk.real));
      await q.rollback();
      expectOracleEqual(afterP, takeOracle(desk.real));
      await p.rollback();
      expectOracleEqual(before, takeOracle(desk.real));
    });

    test("a commit that came and went twice, its edits kept, does not stand in the way", async () => {
      const desk = await makeDesk(subject, BASE);
      const before = takeOracle(desk.real);
      const p = await desk.commit("p", PLANS.p);
      const q = await desk.commit("q", PLANS.q);
      await q.undoCommit();
      await q.commit();
      await q.undoCommit();
      await p.undoCommit();
      expectOracleEqual(before, takeOracle(desk.real));
      await p.commit();
      expect(shell(desk.real, "cat b.txt")).toBe("PPPP\n");
    });

    test("a resource that is a single file is taken back in turn", async () => {
      const desk = await makeDesk(subject, BASE, "b.txt");
      const before = takeOracle(desk.real);
      const p = await desk.commit("p", "echo PPPP > b.txt");
      const q = await desk.commit("q", "echo QQ > b.txt");
      await q.rollback();
      await p.rollback();
      expectOracleEqual(before, takeOracle(desk.real));
    });

    const touched = "touch -r b.txt time; printf 'XXXX\\n' > b.txt; touch -r time b.txt; rm time";
    const notes = "setfattr -n user.note -v mine b.txt";
    test.each([
      [
        "in place, with size and time kept, after the later commit was taken back",
        touched,
        "after",
      ],
      ["in place, with size and time kept, before the later plan began", touched, "before"],
      ["the mode alone", "chmod 600 b.txt", "after"],
      ["the mode alone, before the later plan began", "chmod 600 b.txt", "before"],
      ["an attribute alone", notes, "after"],
      ["an attribute alone, before the later plan began", notes, "before"],
    ])("somebody's edit is found: %s (R42)", async (_name, script, when) => {
      const desk = await makeDesk(subject, BASE);
      const p = await desk.commit("p", PLANS.p);
      if (when === "before") shell(desk.real, script);
      const q = await desk.commit("q", PLANS.q);
      await q.rollback();
      if (when === "after") shell(desk.real, script);
      const edited = takeOracle(desk.real);
      await expect(p.rollback()).rejects.toMatchObject({
        code: "SANDBOX_ROLLBACK",
        data: { reason: "foreignEdits", paths: ["b.txt"] },
      });
      expectOracleEqual(edited, takeOracle(desk.real));
    });
  });
}
