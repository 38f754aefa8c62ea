import type { SandboxRecord } from "../../src/journal/sandbox-record.ts";

/** A record of a sandbox as `create` leaves it. */
export function sampleRecord(planId: string, sandboxId: string, sequence = 1): SandboxRecord {
  return {
    ref: {
      schemaVersion: 1,
      sandboxId,
      planId,
      resourceId: "data",
      strategyName: "probe",
      chosenBy: "call",
      createdAt: "2024-01-01T00:00:00.000Z",
      baseFingerprintId: "base",
      metadata: {},
    },
    resource: { resourceId: "data", type: "fs-directory", location: "/nowhere" },
    status: "CREATED",
    sequence,
    lastError: null,
    workspaceStale: false,
    checkpoints: [],
    currentCheckpoint: null,
    inFlight: null,
    lastTransaction: null,
    lastResult: null,
    updatedAt: "2024-01-01T00:00:00.000Z",
  };
}
