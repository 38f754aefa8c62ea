import { spawn, spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { DemoGround } from "./demo-ground.ts";

const PROGRAM = fileURLToPath(new URL("../main.cjs", import.meta.url));
const LONGEST_WAIT_MS = 20_000;

/** How a command of the demo ended. */
export interface Ended {
  readonly code: number | null;
  /** Both outputs. */
  readonly text: string;
}

/** Runs a command of this program in the demo's folder, as a user would. */
export function runCoffer(ground: DemoGround, args: readonly string[]): Ended {
  const done = spawnSync(process.execPath, lineOf(ground, args), {
    cwd: ground.root,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  if (done.error) throw done.error;
  return { code: done.status, text: `${done.stdout}${done.stderr}`.trimEnd() };
}

/** Starts a command and kills it with SIGKILL as soon as it has begun to commit. */
export async function killCoffer(ground: DemoGround, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, lineOf(ground, args), {
    cwd: ground.root,
    stdio: "ignore",
  });
  const ended = new Promise<void>((resolve) => void child.on("close", () => resolve()));
  const until = Date.now() + LONGEST_WAIT_MS;
  while (ground.transactions() === 0 && child.exitCode === null && Date.now() < until)
    await pause(1);
  await pause(Math.random() * 200);
  child.kill("SIGKILL");
  await ended;
}

function lineOf({ stateDirectory }: DemoGround, args: readonly string[]): string[] {
  return [PROGRAM, "--state", stateDirectory, ...args];
}
