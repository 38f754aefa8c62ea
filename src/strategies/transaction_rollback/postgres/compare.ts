import { describeThrown } from "../../../errors/index.ts";
import type { RecordedStatements } from "../engine.ts";
import type { SessionSource } from "../sql/kept-session.ts";
import { notCaptured } from "../sql/not-captured.ts";
import { requireSameCatalogs } from "./compare-catalogs.ts";
import { rowDifferences } from "./compare-rows.ts";
import { withImageSettings } from "./image-settings.ts";
import { orderEffects } from "./order-effects.ts";
import { lastNumbers, movedSequences } from "./sequences.ts";
import { Session, isLost, sqlStateOf } from "./session.ts";

/** The class of errors by which a server says that it has no room, memory or connection left. */
const NO_RESOURCES = "53";
/** Stands in the log in the place of statements that nobody saw. */
const TEXT = "-- rows that a command changed";

/**
 * What makes one clone of a database the other, as rows that a log can repeat; it is tried on the earlier one, in a
 * transaction that is rolled back. Nobody else is connected to either.
 * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
 */
export async function compareClones(
  before: SessionSource<Session>,
  after: SessionSource<Session>,
): Promise<RecordedStatements> {
  await using earlier = await openReader(before);
  await using later = await openReader(after);
  try {
    return await compare(earlier, later);
  } catch (thrown) {
    // As when rules about rows hide some of them: it would be so the next time too.
    if (isRefusal(thrown)) throw notCaptured(describeThrown(thrown), thrown);
    throw thrown;
  }
}

async function compare(earlier: Session, later: Session): Promise<RecordedStatements> {
  await requireSameCatalogs(earlier, later);
  const differences = await withImageSettings(earlier, () =>
    withImageSettings(later, () => rowDifferences(earlier, later)),
  );
  const sequences = movedSequences(await lastNumbers(earlier), await lastNumbers(later));
  await earlier.run("ROLLBACK");
  const effects = await orderEffects(earlier, differences);
  const statements = effects.length === 0 ? [] : [{ text: TEXT, kind: "rows", effects } as const];
  return { statements, sequences };
}

/** Whether the server would say the same once more: neither is the connection lost, nor is it short of anything. */
function isRefusal(thrown: unknown): boolean {
  const state = sqlStateOf(thrown);
  return state !== null && !isLost(thrown) && !state.startsWith(NO_RESOURCES);
}

/** A session that sees one state of everything, or fails: rules about rows must hide none of them. */
async function openReader(source: SessionSource<Session>): Promise<Session> {
  const session = await Session.open(source);
  try {
    await session.run("SET row_security = off");
    await session.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return session;
  } catch (thrown) {
    await session[Symbol.asyncDispose]();
    throw thrown;
  }
}
