import assert from "node:assert/strict";
import { METHODS_OF_CAPABILITY, REQUIRED_METHODS, SandboxCreationError } from "../../index.ts";
import type { AreaRules } from "../area.ts";
import { rejectsWith, sameEntries } from "../assertions.ts";
import { PLAN } from "../trial.ts";

/** What a strategy is made of, and what making a sandbox gives. */
export const CONTRACT: AreaRules = {
  name: "contract",
  rules: [
    {
      title: "has the nine methods and every method that its capabilities promise (R1, R18)",
      prove: ({ unguarded, capabilities }) => {
        const promised = Object.entries(METHODS_OF_CAPABILITY).flatMap(([capability, methods]) =>
          capabilities[capability as keyof typeof capabilities] ? [...methods] : [],
        );
        const members = unguarded as unknown as Record<string, unknown>;
        const missing = [...REQUIRED_METHODS, ...promised].filter(
          (method) => typeof members[method] !== "function",
        );
        assert.deepEqual(missing, []);
        return Promise.resolve();
      },
    },
    {
      title: "describes a new sandbox in plain JSON that names plan, resource and strategy",
      prove: async (trial) => {
        const from = Date.now();
        const ref = await trial.create();
        assert.deepEqual(JSON.parse(JSON.stringify(ref)), ref);
        assert.equal(ref.planId, PLAN);
        assert.equal(ref.resourceId, trial.resource.resourceId);
        assert.equal(ref.strategyName, trial.strategyName);
        const at = Date.parse(ref.createdAt);
        assert.equal(new Date(at).toISOString(), ref.createdAt);
        assert.ok(at >= from - 1 && at <= Date.now(), "createdAt is the time of the call");
        assert.equal(await trial.status(ref), "CREATED");
      },
    },
    {
      title: "makes a sandbox without touching the resource (R4)",
      prove: async (trial) => {
        const before = await trial.original();
        const identities = await trial.originalIdentities();
        await trial.create();
        sameEntries(await trial.original(), before, "the resource after create");
        sameEntries(await trial.originalIdentities(), identities, "its inodes and change times");
      },
    },
    {
      title: "refuses a resource that is not there and keeps nothing of it (R4)",
      prove: async (trial) => {
        const privately = await trial.privateListing();
        const resource = { ...trial.resource, location: `${trial.location}-missing` };
        await rejectsWith(SandboxCreationError, () => trial.create(PLAN, resource));
        assert.deepEqual(await trial.privateListing(), privately);
        assert.deepEqual(trial.mounts(), []);
      },
    },
  ],
};
