import assert from "node:assert/strict";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { basename, join } from "node:path";
import type { TestEngine } from "../../../plugins/container/test/test-engine.ts";
import type { Plan } from "../../../src/index.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import { type Ground, treeStateOf } from "../ground.ts";
import { editTree } from "../tree.ts";
import type { WorldMember } from "./member.ts";

/**
 * A directory whose commands run in a container, and a system that a commit gives a name. Both have to be in the same
 * state at all times: the directory and the name, the workspace and the layer.
 */
export function container(engine: TestEngine): WorldMember {
  const place = ({ folder }: Ground): string => join(folder, "container/real");
  const keptName = ({ folder }: Ground): string =>
    `localhost/kept-${basename(folder).toLowerCase()}:1`;
  return {
    id: "container",
    configuration: engine.configurationText(),
    make: (ground) => {
      // What is left of a ground whose plan nobody cleaned up would be taken for that of this one.
      engine.clear();
      mkdirSync(join(ground.folder, "container"));
      execFileSync("cp", ["-a", ground.template.tree, place(ground)]);
    },
    resource: (ground) => ({
      type: "fs-directory",
      location: place(ground),
      sandboxStrategy: "container",
      properties: { keep: keptName(ground) },
    }),
    edit: async (sandbox, to, plan) => {
      editTree(await sandbox.getPath(), "programs", to);
      await inSystem(plan, `echo ${to} > /etc/state`);
    },
    stateOf: (ground) => {
      const tree = treeStateOf(ground, place(ground), ["old", "edited"]);
      assert.equal(engine.has(keptName(ground)), tree === "edited", "name and directory differ");
      return tree;
    },
    stateOfSandbox: async (ground, sandbox, plan) => {
      const states = ["old", "edited", "later"] as const;
      const tree = treeStateOf(ground, await sandbox.getPath(), states);
      const system = (await inSystem(plan, "cat /etc/state 2>/dev/null || echo old")).trim();
      assert.equal(system, tree, "system and directory differ");
      return tree;
    },
    look: () =>
      engine.ask("images", "--all", "--no-trunc", "--format", "{{.ID}} {{.Repository}}:{{.Tag}}"),
    unsettled: () => engine.left().filter((name) => name.startsWith("cofferdam-")),
    leftovers: () => engine.left().filter((name) => name.includes("cofferdam/")),
  };
}

/** Runs a script in the container of a plan, and gives what it said. */
async function inSystem(plan: Plan, script: string): Promise<string> {
  const folder = createTempFolder();
  const output = openSync(join(folder, "said"), "w");
  try {
    const stdio = ["ignore", output, "inherit"] as const;
    const { exitCode } = await plan.run(["sh", "-c", script], { cwd: "/", stdio });
    assert.equal(exitCode, 0);
    return readFileSync(join(folder, "said"), "utf8");
  } finally {
    closeSync(output);
    removeFolder(folder);
  }
}
