import {
  PlanBusyError,
  SandboxCleanupError,
  SandboxCommitError,
  type SandboxError,
  SandboxRollbackError,
  describeThrown,
} from "../../errors/index.ts";
import { displayPath, joinPath } from "../../model/byte-path.ts";
import type { OpenPlace, SandboxPlace, Workspace } from "../../tree/workspace.ts";
import { NAMES } from "./sandbox-files.ts";

/** What a view is taken away for. */
export type QuietOperation = Parameters<Workspace["quiesce"]>[1];

/** The error of an operation that cannot begin because the view cannot be taken away. Nothing was changed. */
export function busyError(
  place: OpenPlace | SandboxPlace,
  operation: QuietOperation,
  cause: unknown,
): SandboxError {
  const where = displayPath(joinPath(place.directory, NAMES.mountPoint));
  const message = `The sandbox is in use at ${where}: ${describeThrown(cause)}`;
  const hint = `End the programs that work there (\`fuser -m\` names them), then call ${operation} again.`;
  const context = { operation, sandboxId: place.sandboxId, hint, cause };
  switch (operation) {
    case "commit":
      return new SandboxCommitError(message, {
        ...context,
        data: {
          originalRestored: true,
          undoDataAt: null,
          failedPath: null,
          appliedCount: 0,
          reason: "busy",
        },
      });
    case "rollback":
      return new SandboxRollbackError(message, {
        ...context,
        data: { reason: "io", originalRestored: true, undoDataAt: null, asideAt: null },
      });
    case "cleanup":
      return new SandboxCleanupError(message, { ...context, data: { remaining: [where] } });
    case "checkpoint":
      return new PlanBusyError(message, {
        ...context,
        data: { holder: { pid: null, host: null, since: null } },
      });
  }
}
