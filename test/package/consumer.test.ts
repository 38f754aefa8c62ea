import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { checkout, installPacked } from "./install-packed.ts";

const CONSUMER = `
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import {
  AtomicCommitError, SANDBOX_STATUSES, SandboxError, SandboxStateError, StrategyNotFoundError,
  StrategyRegistry, openCofferdam,
} from "cofferdam";
import type {
  Change, Cofferdam, CommitResult, DiffView, Resource, Sandbox, SandboxRef, SandboxStatus,
  SandboxStrategy, StrategyCapabilities, StrategyHost,
} from "cofferdam";

mkdirSync("shop");
writeFileSync("shop/prices.txt", "apples 3\\n");
const resource: Resource = { resourceId: "shop", type: "fs-directory", location: "shop" };
const cofferdam: Cofferdam = await openCofferdam({ stateDirectory: "state" });
const ref: SandboxRef = await cofferdam.create("plan", resource);
const sandbox: Sandbox = cofferdam.sandbox(ref);
const change: Change = await sandbox.write("prices.txt", "apples 5\\n");
const diff: DiffView = await sandbox.diff();
const result: CommitResult = await sandbox.commit({ expect: diff.digest });
const status: SandboxStatus = await cofferdam.status(ref);
const registry: StrategyRegistry = cofferdam.registry;
const strategy: SandboxStrategy = await registry.resolve(ref.strategyName);
const capabilities: StrategyCapabilities | undefined = strategy.capabilities;
export type Constructor = new (host: StrategyHost) => SandboxStrategy;

const caught: unknown[] = [];
await sandbox.write("prices.txt", "late").catch((error: unknown) => caught.push(error));
await cofferdam.create("plan", resource, { strategy: "snapshot" }).catch((error: unknown) => caught.push(error));
try {
  const plan = await cofferdam.plan("together", ["shop"]);
  await plan.sandbox("shop").write("prices.txt", "never published\\n");
  await plan.commit({ expect: "the digest of something else" });
} catch (error) {
  if (error instanceof AtomicCommitError) caught.push(error);
}
console.log(JSON.stringify({
  kind: change.kind,
  changed: result.changed,
  status,
  isKnown: SANDBOX_STATUSES.includes(status),
  isolation: capabilities?.isolation,
  text: readFileSync("shop/prices.txt", "utf8"),
  classes: [SandboxStateError, StrategyNotFoundError, AtomicCommitError].map((kind, at) => caught[at] instanceof kind),
  family: caught.every((error) => error instanceof SandboxError),
}));
await sandbox.cleanup();
await cofferdam.close();
`;

const compilerOptions = {
  ...{ strict: true, exactOptionalPropertyTypes: true, module: "NodeNext", target: "ES2022" },
  ...{ lib: ["ES2023", "ESNext.Disposable"], types: ["node"] },
  typeRoots: [join(checkout, "node_modules/@types")],
};

test(
  "a project that has the packed package compiles and runs with its entry point alone (R22)",
  { timeout: 240_000 },
  () => {
    const project = tempFolder();
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
    writeFileSync(join(project, "consumer.ts"), CONSUMER);
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["consumer.ts"] }),
    );
    installPacked(project);
    const run = (...args: string[]): string =>
      execFileSync(process.execPath, args, { cwd: project, encoding: "utf8" });
    run(join(checkout, "node_modules/typescript/bin/tsc"), "-p", ".");
    expect(JSON.parse(run("consumer.js"))).toEqual({
      kind: "modified",
      changed: ["prices.txt"],
      status: "COMMITTED",
      isKnown: true,
      isolation: "full",
      text: "apples 5\n",
      classes: [true, true, true],
      family: true,
    });
  },
);
