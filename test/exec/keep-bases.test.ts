import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Plan, type SandboxEvent, openCofferdam } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";

const TEXT = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("");

interface Bench extends AsyncDisposable {
  readonly plan: Plan;
  readonly real: string;
  readonly events: readonly SandboxEvent[];
  run(script: string): Promise<void>;
}

async function open(): Promise<Bench> {
  const folder = tempFolder();
  const real = join(folder, "real");
  mkdirSync(real);
  writeFileSync(join(real, "text"), TEXT);
  const events: SandboxEvent[] = [];
  const coffer = await openCofferdam({
    stateDirectory: join(folder, "state"),
    config: false,
    onEvent: (event) => void events.push(event),
  });
  const plan = await coffer.plan("plan", [real]);
  return {
    plan,
    real,
    events,
    run: async (script) => {
      const stdio = ["ignore", "ignore", "inherit"] as const;
      const { exitCode } = await plan.run(["sh", "-ec", script], { cwd: real, stdio });
      expect(exitCode).toBe(0);
    },
    [Symbol.asyncDispose]: async () => {
      await plan.cleanup({ force: true });
      await coffer.close();
    },
  };
}

test("what a command edited is merged with what others do to it afterwards (R44)", async () => {
  await using bench = await open();
  await bench.run("echo bottom >> text");
  writeFileSync(join(bench.real, "text"), `top\n${TEXT}`);
  await bench.plan.commit({ merge: true });
  expect(readFileSync(join(bench.real, "text"), "utf8")).toBe(`top\n${TEXT}bottom\n`);
});

test("what others changed before the command ended has no ancestor that is certain", async () => {
  await using bench = await open();
  await bench.run("echo bottom >> text");
  writeFileSync(join(bench.real, "text"), `top\n${TEXT}`);
  await bench.run("echo more >> text");
  writeFileSync(join(bench.real, "other"), "theirs\n");
  await bench.run("echo ours >> other");
  writeFileSync(join(bench.real, "other"), "theirs again\n");
  await expect(bench.plan.commit({ merge: true })).rejects.toMatchObject({
    cause: { data: { conflicts: [{ path: "other", reason: "noAncestor" }] } },
  });
});

/** A command and somebody else edit the same text of so many bytes, in different places. */
async function editBoth({ plan, real, run }: Bench, size: number): Promise<void> {
  const text = `${"x".repeat(size - 2)}\n\n`;
  writeFileSync(join(real, "text"), text);
  await plan.rollback();
  await run("echo bottom >> text");
  writeFileSync(join(real, "text"), `top\n${text}`);
}

test("the original of a text of a mebibyte is kept for merges", async () => {
  await using bench = await open();
  await editBoth(bench, 1 << 20);
  expect(await bench.plan.commit({ merge: true })).toMatchObject({ outcome: "committed" });
});

test("that of a larger one is not", async () => {
  await using bench = await open();
  await editBoth(bench, (1 << 20) + 1);
  await expect(bench.plan.commit({ merge: true })).rejects.toMatchObject({
    cause: { data: { conflicts: [{ path: "text", reason: "noAncestor" }] } },
  });
});

test("a command does not fail when nothing can be kept for merges, and the plan says so", async () => {
  await using bench = await open();
  const { ref } = bench.plan.sandbox("real");
  writeFileSync(join(ref.metadata["directory"] as string, "pre-1"), "in the way\n");
  await bench.run("echo bottom >> text");
  expect(bench.events.map(({ name }) => name)).toContain("sandbox.basesNotKept");
  await bench.plan.commit();
  expect(readFileSync(join(bench.real, "text"), "utf8")).toBe(`${TEXT}bottom\n`);
});
