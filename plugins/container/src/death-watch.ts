import { type ChildProcess, spawn } from "node:child_process";

/** Waits for the end of its input, which this process holds and never writes to; then runs what it is given, twice if need be. */
const SCRIPT = 'cat >/dev/null; "$@" || { sleep 1; "$@"; }';

/**
 * Ends containers whose owner was killed: the engine's own processes do not go with it. Without it they would run until
 * somebody looks at the plan.
 */
export class DeathWatch {
  readonly #watches = new Map<string, ChildProcess>();

  /** Runs the command line as soon as this process has ended, unless `end` comes first. */
  begin(name: string, argv: readonly string[], env: Readonly<Record<string, string>>): void {
    const child = spawn("sh", ["-c", SCRIPT, "sh", ...argv], {
      env,
      cwd: "/",
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    // Whatever keeps it from working, the next look at the plan does its work.
    child.on("error", () => undefined);
    child.stdin?.on("error", () => undefined);
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    this.#watches.set(name, child);
  }

  end(name: string): void {
    this.#watches.get(name)?.kill("SIGKILL");
    this.#watches.delete(name);
  }
}
