import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { displayPath } from "../../../../src/model/byte-path.ts";
import { at, makeSandbox, type TestSandbox } from "../sandbox.ts";

/*
 * Makes a sandbox as whoever runs this, does what the lines of the standard input say, and answers each with one line
 * of JSON. The sandbox stays when the program ends.
 */

/** One line of the standard input. */
export type Command =
  | { readonly call: "path" | "changes" | "destroy" | "events" | "die" }
  | { readonly call: "write"; readonly path: string; readonly text: string }
  /** In namespaces of its own. */
  | { readonly call: "run"; readonly argv: readonly string[] }
  /** In the directory that `path` gave. */
  | { readonly call: "shell"; readonly line: string }
  | { readonly call: "quiesce"; readonly operation: "commit" | "rollback" | "cleanup" }
  | { readonly call: "checkpoint" | "restore"; readonly id: string };

const [root = "", options = "{}"] = process.argv.slice(2);

async function answer(sandbox: TestSandbox, command: Command): Promise<unknown> {
  const { workspace, place } = sandbox;
  switch (command.call) {
    case "path":
      return displayPath(await workspace.path(place));
    case "changes":
      return (await workspace.changes(place)).changes
        .filter(({ implied }) => implied !== true)
        .map(({ path, before, after }) => [path, before?.type ?? null, after?.type ?? null]);
    case "write":
      return workspace.write(place, at(command.path), Buffer.from(command.text));
    case "run": {
      const done = await workspace.runInside(place, command.argv);
      return [done.exitCode, done.stdout.toString(), done.stderr.toString()];
    }
    case "shell": {
      const cwd = displayPath(await workspace.path(place));
      const done = spawnSync("sh", ["-ec", command.line], { cwd, encoding: "utf8" });
      return [done.status, done.stdout, done.stderr];
    }
    case "quiesce":
      return workspace.quiesce(place, command.operation);
    case "checkpoint":
      return workspace.checkpoint(place, command.id);
    case "restore":
      return workspace.restore(place, command.id);
    case "destroy":
      return workspace.destroy(place);
    case "events":
      return sandbox.events;
    case "die":
      return process.kill(process.pid, "SIGKILL");
  }
}

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value ?? null)}\n`);
}

try {
  const sandbox = await makeSandbox(root, JSON.parse(options) as object);
  say(sandbox.metadata);
  for (const line of readFileSync(0, "utf8").split("\n")) {
    if (line === "") continue;
    say(
      await answer(sandbox, JSON.parse(line) as Command).catch((thrown: unknown) => ({ thrown })),
    );
  }
} catch (thrown) {
  say({ thrown });
}
