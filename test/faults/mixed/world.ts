import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ground, PLAN, makeGround } from "../ground.ts";
import type { WorldOfSandboxes } from "../shapes/plan.ts";
import { SUBJECTS } from "../subjects.ts";
import type { TreeState } from "../tree.ts";
import type { WorldMember } from "./member.ts";

/** A plan over resources of several kinds, which may also lie on a ground that somebody else made. */
export interface MixedWorld extends WorldOfSandboxes {
  /** Makes the resources on a ground. */
  readonly furnish: (ground: Ground) => void;
  /** The ground with everything that is known of these resources, once they are there. */
  readonly known: (ground: Ground) => Ground;
}

/** A plan over resources of several kinds, committed in the order in which they are listed. */
export function mixedWorld(members: readonly WorldMember[]): MixedWorld {
  const furnish = (ground: Ground): void => {
    for (const { make } of members) make(ground);
  };
  const known = (ground: Ground): Ground => withConnections(ground, members);
  return {
    name: members.map(({ id }) => id).join(", "),
    furnish,
    known,
    make: (template) => {
      const ground = makeGround(SUBJECTS.copy, template);
      furnish(ground);
      return known(ground);
    },
    edit: async (ground, coffer) => {
      const resources = members.map(({ id, resource }) => ({ id, ...resource(ground) }));
      const plan = await coffer.plan(PLAN, resources);
      for (const { id, edit } of members) await edit(plan.sandbox(id), "edited", plan);
    },
    editLater: async (plan) => {
      for (const { id, edit } of members) await edit(plan.sandbox(id), "later", plan);
    },
    stateOf: (ground) => sameOf(members.map(({ id, stateOf }) => [id, stateOf(ground)])),
    stateOfSandboxes: async (ground, coffer) => {
      const plan = await coffer.plan(PLAN);
      const states: [string, TreeState][] = [];
      for (const { id, stateOfSandbox } of members)
        states.push([id, await stateOfSandbox(ground, plan.sandbox(id), plan)]);
      return sameOf(states);
    },
  };
}

function withConnections(ground: Ground, members: readonly WorldMember[]): Ground {
  const connections = members.flatMap(({ connection }) => connection?.(ground) ?? []);
  const lines = [
    ...members.flatMap(({ configuration }) => configuration ?? []),
    ...(connections.length > 0 ? ["connections:\n", ...connections] : []),
  ];
  const config = join(ground.folder, "cofferdam.yaml");
  writeFileSync(config, lines.join(""), { mode: 0o600 });
  return {
    ...ground,
    ...(lines.length > 0 && { config }),
    elsewhere: {
      folders: members.flatMap(({ folder }) => folder?.(ground) ?? []),
      look: () => members.map(({ look }) => look?.(ground) ?? "").join("\n"),
      unsettled: () => members.flatMap(({ unsettled }) => unsettled?.(ground) ?? []),
      leftovers: () => members.flatMap(({ leftovers }) => leftovers?.(ground) ?? []),
    },
  };
}

/** The state of all; throws when one differs from the others. */
function sameOf(states: readonly (readonly [id: string, state: TreeState])[]): TreeState {
  const [first] = states;
  assert.ok(first !== undefined);
  const told = states.map(([id, state]) => `${id} is ${state}`).join(", ");
  assert.ok(
    states.every(([, state]) => state === first[1]),
    `a mixture: ${told}`,
  );
  return first[1];
}
