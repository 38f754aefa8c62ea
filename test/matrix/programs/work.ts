import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import {
  type CofferdamOptions,
  type OverlayStrategy,
  type Resource,
  type SandboxRef,
  openCofferdam,
  unguarded,
} from "../../../src/index.ts";

/** What one process does with a sandbox. */
export type Work =
  | {
      readonly step: "commit";
      readonly options: CofferdamOptions;
      readonly strategyName: string;
      readonly resource: Resource;
      /** Run by `sh` in the workspace. */
      readonly script: string;
      /** Let the kernel mount the sandbox in namespaces of the script's own. */
      readonly inNamespace: boolean;
    }
  | { readonly step: "undo"; readonly options: CofferdamOptions; readonly ref: SandboxRef }
  | { readonly step: "cleanup"; readonly options: CofferdamOptions; readonly ref: SandboxRef };

/** What a process that edited and committed tells. */
export interface Committed {
  readonly ref: SandboxRef;
}

const work = JSON.parse(readFileSync(0, "utf8")) as Work;
await using cofferdam = await openCofferdam(work.options);
if (work.step === "commit") {
  const { strategyName, resource, script, inNamespace } = work;
  const ref = await cofferdam.create("fidelity", resource, { strategy: strategyName });
  const sandbox = cofferdam.sandbox(ref);
  const argv = ["sh", "-c", script];
  if (inNamespace) {
    const strategy = unguarded(await cofferdam.strategyFor(ref)) as OverlayStrategy;
    await strategy.runInside(ref, argv, { env: { PATH: process.env["PATH"] ?? "" } });
  } else {
    // Where the mode has limits, some programs fail; the tree tells which.
    spawnSync("sh", argv.slice(1), { cwd: await sandbox.getPath() });
  }
  await sandbox.commit();
  process.stdout.write(JSON.stringify({ ref } satisfies Committed));
} else if (work.step === "undo") {
  await cofferdam.sandbox(work.ref).rollback();
} else {
  await cofferdam.sandbox(work.ref).cleanup();
}
