import type { DeclaredCapabilities } from "../../index.ts";
import type { Area } from "../area.ts";
import { type LeftOutCheck, type TestRunner, declareAreas } from "../run-conformance.ts";
import { DATABASE_COMMITS } from "./commits.ts";
import { DATABASE_EDITS } from "./edits.ts";
import { bindDatabaseArea } from "./rule.ts";
import type { DatabaseSubject } from "./subject.ts";
import { DatabaseTrial } from "./trial.ts";

/** The behavioural contract of a strategy for SQL databases, area by area; every check has a database of its own. */
export function databaseAreas(subject: DatabaseSubject): Area[] {
  return [DATABASE_EDITS, DATABASE_COMMITS].map((area) => bindDatabaseArea(area, subject));
}

/**
 * Declares every check that concerns a strategy for databases as a test. Which ones do, the strategy says by what it
 * promises for such a database; what is left out is returned, so that nothing goes missing in silence.
 */
export function runDatabaseConformance(
  runner: TestRunner,
  subject: DatabaseSubject,
): Promise<readonly LeftOutCheck[]> {
  return declareAreas(runner, subject.name, databaseAreas(subject), promisesOf(subject));
}

async function promisesOf(subject: DatabaseSubject): Promise<DeclaredCapabilities> {
  await using trial = await DatabaseTrial.begin(subject);
  return trial.capabilities(await trial.create());
}
