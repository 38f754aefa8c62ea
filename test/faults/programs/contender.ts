import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { SandboxError, openCofferdam } from "../../../src/index.ts";
import type { Contest, Said } from "../race/contest.ts";

/** Does what it is told line by line, and answers each line; ends with its input. */
await using coffer = await openCofferdam({
  stateDirectory: process.argv[2] ?? "",
  config: false,
  strategies: {},
});
say({ outcome: "done" });
for await (const line of createInterface({ input: process.stdin })) {
  const contest = JSON.parse(line) as Contest;
  await pause(contest.afterMs);
  try {
    say({ outcome: "done", order: await contend(contest) });
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    say({ outcome: "failed", code: error.code });
  }
}

async function contend(contest: Contest): Promise<readonly string[]> {
  const plan = await coffer.plan(contest.planId);
  switch (contest.call) {
    case "commit":
      return (await plan.commit()).order;
    case "rollback":
      return (await plan.rollback()).succeeded;
    case "cleanup":
      return (await plan.cleanup()).succeeded;
    case "create":
      await coffer.plan(contest.planId, [contest.resource]);
      return [];
    case "write":
      await plan.sandbox(contest.id).write(contest.path, contest.content);
      return [];
  }
}

function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`);
}
