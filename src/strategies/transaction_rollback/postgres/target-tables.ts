import type { Statement } from "../sql/split-statements.ts";
import type { Session } from "./session.ts";

const PLANNED = /^(INSERT|UPDATE|DELETE|MERGE|WITH)\b/;
const NAMED = `SELECT c.oid::text AS oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND (n.nspname, c.relname) IN (SELECT s, t FROM unnest($1::text[], $2::text[]) u(s, t))`;

interface PlanNode {
  readonly "Node Type"?: string;
  readonly Schema?: string;
  readonly "Relation Name"?: string;
  readonly Plans?: readonly PlanNode[];
  readonly "Target Tables"?: readonly PlanNode[];
}

/** What may differ between statements that have the same targets. */
const VALUES = /'[^']*(?:''[^']*)*'|\b\d[\d.]*/g;

/** What a statement says but for the values in it. */
export function patternOf({ text }: Statement): string {
  return text.replaceAll(VALUES, "?");
}

/** The oids of the tables that a statement names as its targets; it is planned, not run. */
export async function targetTables(
  session: Session,
  { bare, text }: Statement,
): Promise<readonly string[]> {
  if (!PLANNED.test(bare)) return [];
  const targets = await plannedTargets(session, text);
  const schemas = targets.map(({ Schema }) => Schema ?? "");
  const names = targets.map((target) => target["Relation Name"] ?? "");
  const rows = await session.run(NAMED, [schemas, names]);
  return rows.map(({ oid }) => oid ?? "");
}

async function plannedTargets(session: Session, text: string): Promise<readonly PlanNode[]> {
  await session.run("SAVEPOINT cofferdam_plan");
  try {
    const [row] = await session.run(`EXPLAIN (VERBOSE, FORMAT JSON) ${text}`);
    const plans = JSON.parse(row?.["QUERY PLAN"] ?? "[]") as readonly { readonly Plan: PlanNode }[];
    return plans.flatMap(({ Plan }) => targetsOf(Plan));
  } catch {
    // The statement itself will tell what is wrong with it.
    return [];
  } finally {
    // Lets its locks go: two who hold them could not both watch the table afterwards.
    await session.run("ROLLBACK TO SAVEPOINT cofferdam_plan");
    await session.run("RELEASE SAVEPOINT cofferdam_plan");
  }
}

function targetsOf(node: PlanNode): readonly PlanNode[] {
  const below = (node.Plans ?? []).flatMap(targetsOf);
  if (node["Node Type"] !== "ModifyTable") return below;
  return [node, ...(node["Target Tables"] ?? []), ...below];
}
