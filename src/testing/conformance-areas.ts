import { type Area, bindArea } from "./area.ts";
import { CHECKPOINTS } from "./areas/checkpoints.ts";
import { CLEANUP } from "./areas/cleanup.ts";
import { COMMIT } from "./areas/commit.ts";
import { CONFLICTS } from "./areas/conflicts.ts";
import { CONTRACT } from "./areas/contract.ts";
import { DIFF } from "./areas/diff.ts";
import { FORKS } from "./areas/forks.ts";
import { ISOLATION } from "./areas/isolation.ts";
import { NEW_PROCESS } from "./areas/new-process.ts";
import { PATH_CALLS } from "./areas/path-calls.ts";
import { READ_WRITE } from "./areas/read-write.ts";
import { ROLLBACK } from "./areas/rollback.ts";
import { SECURITY } from "./areas/security.ts";
import { STATUS } from "./areas/status.ts";
import { TWO_PHASE_COMMIT } from "./areas/two-phase.ts";
import { UNDO } from "./areas/undo.ts";
import type { ConformanceSubject } from "./subject.ts";

const AREAS = [
  CONTRACT,
  ISOLATION,
  READ_WRITE,
  PATH_CALLS,
  DIFF,
  COMMIT,
  UNDO,
  ROLLBACK,
  STATUS,
  CHECKPOINTS,
  FORKS,
  SECURITY,
  CONFLICTS,
  CLEANUP,
  NEW_PROCESS,
  TWO_PHASE_COMMIT,
];

/**
 * The behavioural contract of a strategy, area by area. Every check makes its own installation and resource, uses only
 * public calls, and looks at the disk with foreign programs (`find`, `sha256sum`, `stat`).
 */
export function conformanceAreas(subject: ConformanceSubject): Area[] {
  return AREAS.map((area) => bindArea(area, subject));
}
