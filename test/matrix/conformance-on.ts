import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import {
  capabilitiesOf,
  conformanceAreas,
  directorySubject,
  runConformance,
} from "../../src/testing/index.ts";
import { runChild } from "../support/child.ts";
import { kitRunner } from "../support/kit-runner.ts";
import { type FileSystemKind, mountFileSystem } from "../support/loop.ts";
import { nobody } from "../support/nobody.ts";
import { asOrdinaryUser } from "../support/as-ordinary-user.ts";
import { COLUMNS, type Column } from "./fidelity/columns.ts";
import type { KitResults, KitRun } from "./programs/run-kit.ts";

const PROGRAM = new URL("./programs/run-kit.ts", import.meta.url);
/** The first check of an ordinary user waits for the process that runs them all. */
const SLOW = { timeout: 600_000 };

/** Declares the whole kit for every strategy, mode and user on a fresh file system of this kind. */
export async function conformanceOn(
  kind: FileSystemKind,
  further: readonly Column[] = [],
): Promise<void> {
  // What the file system does is the same on a disk of memory, and nothing waits for the real one.
  const memory = mountFileSystem("tmpfs", { megabytes: 768 });
  const fileSystem = mountFileSystem(kind, { megabytes: 512, below: memory.mountPoint });
  afterAll(async () => {
    await fileSystem[Symbol.asyncDispose]();
    await memory[Symbol.asyncDispose]();
  });
  const { mountPoint } = fileSystem;
  for (const column of [...COLUMNS, ...further].filter((one) => !isTriedElsewhere(one))) {
    if (column.user === "root") await asRoot(column, mountPoint);
    else await withoutRoot(column, mountPoint);
  }
}

/** Plain copies without root are the same on every disk; the suite of ordinary users has them. */
function isTriedElsewhere({ user, strategyName, properties }: Column): boolean {
  const isCopy = strategyName === "filesystem_copy" || properties?.["mode"] === "copy";
  return user === "nobody" && isCopy;
}

async function asRoot({ name, strategyName, properties }: Column, below: string): Promise<void> {
  const init = { name, strategyName, below, ...(properties !== undefined && { properties }) };
  await runConformance(kitRunner, directorySubject(init));
}

/** The same checks by a process of an ordinary user; its results become the tests. */
async function withoutRoot(column: Column, mountPoint: string): Promise<void> {
  const { name, strategyName, properties, inNamespace, withoutFuse } = column;
  const below = join(mountPoint, `nobody-${name.replaceAll(/\W+/g, "-")}`);
  mkdirSync(below);
  chownSync(below, nobody.uid, nobody.gid);
  const subject = directorySubject({ name, strategyName, below });
  const capabilities = await capabilitiesOf(subject);
  let results: Promise<KitResults> | undefined;
  const run: KitRun = {
    strategyName,
    below,
    inNamespace: inNamespace === true,
    ...(properties !== undefined && { properties }),
  };
  describe(`${name}, by an ordinary user`, SLOW, () => {
    for (const area of conformanceAreas(subject)) {
      const checks = area.checks.filter((check) => check.requires(capabilities) === null);
      kitRunner.describe(area.name, () => {
        for (const { title } of checks) {
          kitRunner.test(title, async () => {
            results ??= runKit(run, withoutFuse === true ? null : join(below, "fuse"));
            const reason = (await results)[`${area.name}: ${title}`];
            if (reason !== null) throw new Error(reason ?? "the check did not run");
          });
        }
      });
    }
  });
}

async function runKit(run: KitRun, node: string | null): Promise<KitResults> {
  const { code, stdout, stderr } = await runChild(PROGRAM, [], {
    input: JSON.stringify(run),
    wrapper: asOrdinaryUser(nobody.uid, node),
    env: { HOME: run.below, TMPDIR: run.below },
  });
  if (code !== 0) throw new Error(`the kit ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as KitResults;
}
