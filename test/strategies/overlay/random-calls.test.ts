import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { firstSeed } from "../../property/first-seed.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { applyChanges } from "./expected-view.ts";
import { type TestSandbox, at, makeSandbox } from "./sandbox.ts";
import { walkView } from "./walk.ts";

const ROUNDS = Number(process.env["COFFERDAM_ROUNDS"] ?? 25);
const CALLS = 12;
const NAMES = ["a", "b", "c", "d"];
const seed = firstSeed();

/** Mulberry32. */
function numbers(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Does the same to the sandbox, by its own calls, and to a plain directory; both must agree on what is refused. */
async function callBoth(
  { workspace, place }: TestSandbox,
  plain: string,
  next: (below: number) => number,
): Promise<void> {
  const pick = (): string =>
    Array.from({ length: 1 + next(3) }, () => NAMES[next(NAMES.length)]).join("/");
  const [path, other] = [pick(), pick()];
  const there = (name: string): boolean =>
    lstatSync(join(plain, name), { throwIfNoEntry: false }) !== undefined;
  switch (next(4)) {
    case 0:
    case 1: {
      const content = `content ${next(1000)}\n`;
      await sameOutcome(
        () => workspace.write(place, at(path), Buffer.from(content)),
        () => {
          mkdirSync(join(plain, dirname(path)), { recursive: true });
          writeFileSync(join(plain, path), content);
        },
      );
      return;
    }
    case 2:
      await sameOutcome(
        () => workspace.remove(place, at(path)),
        () => rmSync(join(plain, path), { recursive: true }),
      );
      return;
    default:
      if (other === path || other.startsWith(`${path}/`)) return;
      await sameOutcome(
        () => workspace.rename(place, at(path), at(other)),
        () => {
          if (!there(path) || there(other)) throw new Error("refused");
          mkdirSync(join(plain, dirname(other)), { recursive: true });
          renameSync(join(plain, path), join(plain, other));
        },
      );
  }
}

async function sameOutcome(ours: () => Promise<void>, plain: () => void): Promise<void> {
  let plainFailed = false;
  try {
    plain();
  } catch {
    plainFailed = true;
  }
  const failure = await ours().then(
    () => null,
    (error: unknown) => error,
  );
  expect(failure !== null, String(failure)).toBe(plainFailed);
}

it("writes, removes and renames as on a plain disk, without a mount, also over checkpoints (R70, R201)", async () => {
  process.stdout.write(`random calls: COFFERDAM_SEED=${seed}\n`);
  const folder = tempFolder();
  for (let round = 0; round < ROUNDS; round++) {
    const next = numbers(seed + round);
    const [root, plain] = [join(folder, `real-${round}`), join(folder, `plain-${round}`)];
    for (const path of ["a/a", "a/b/c", "b/d/d", "c"]) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), `base of ${path}\n`);
    }
    execFileSync("cp", ["-a", root, plain]);
    const original = takeOracle(root);
    await using sandbox = await makeSandbox(root);
    for (let call = 1; call <= CALLS; call++) {
      try {
        await callBoth(sandbox, plain, next);
        if (call % 5 === 0) await sandbox.workspace.checkpoint(sandbox.place, `at-${call}`);
      } catch (cause) {
        throw new Error(`COFFERDAM_SEED=${seed + round} fails`, { cause });
      }
    }
    const wanted = takeOracle(plain);
    expectOracleEqual(wanted, await walkView(sandbox), { ignore: ["mtimes"] });
    const { changes } = await sandbox.workspace.changes(sandbox.place);
    expectOracleEqual(wanted, applyChanges(original, changes), { ignore: ["mtimes"] });
    // The directory for other programs, however it can be had here: a mount of the kernel or of FUSE, or a copy.
    const shown = takeOracle(displayPath(await sandbox.workspace.path(sandbox.place)));
    expectOracleEqual(wanted, shown, { ignore: ["mtimes"] });
    expectOracleEqual(original, takeOracle(root));
  }
}, 120_000);
