import { IMAGE_CLAUSES } from "./image-settings.ts";
import type { Session } from "./session.ts";
import { CAPTURE_TRIGGER, type Table } from "./tables.ts";

/** The key stands beside the trigger and not in it: a statement may give the columns other names, or the table another key. */
const PREPARATION = [
  `CREATE TEMP TABLE cofferdam_effects (n bigserial PRIMARY KEY, schema text, name text, key_before text, key_after text,
     before text, after text, row_before text, row_after text, version_before text, version_after text) ON COMMIT DROP`,
  "CREATE TEMP TABLE cofferdam_keys (relid oid, columns text[]) ON COMMIT DROP",
  `CREATE FUNCTION pg_temp.cofferdam_capture() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER ${IMAGE_CLAUSES} AS $capture$
   DECLARE
     had boolean := TG_OP <> 'INSERT';
     has boolean := TG_OP <> 'DELETE';
     key text[] := (SELECT columns FROM pg_temp.cofferdam_keys WHERE relid = TG_RELID);
   BEGIN
     INSERT INTO pg_temp.cofferdam_effects (schema, name, key_before, key_after, before, after, row_before, row_after,
       version_before, version_after)
     VALUES (TG_TABLE_SCHEMA, TG_TABLE_NAME,
       CASE WHEN had THEN (SELECT json_agg(to_jsonb(OLD) ->> c ORDER BY p)::text FROM unnest(key) WITH ORDINALITY u(c, p)) END,
       CASE WHEN has THEN (SELECT json_agg(to_jsonb(NEW) ->> c ORDER BY p)::text FROM unnest(key) WITH ORDINALITY u(c, p)) END,
       CASE WHEN had THEN OLD::text END, CASE WHEN has THEN NEW::text END,
       CASE WHEN had THEN row_to_json(OLD, true)::text END, CASE WHEN has THEN row_to_json(NEW, true)::text END,
       CASE WHEN had THEN TG_RELID || ' ' || OLD.ctid END, CASE WHEN has THEN TG_RELID || ' ' || NEW.ctid END);
     RETURN NULL;
   END $capture$`,
];

const FORGET_KEYS = "DELETE FROM pg_temp.cofferdam_keys";
const NOTE_KEYS = `INSERT INTO pg_temp.cofferdam_keys SELECT i.indrelid, array_agg(a.attname ORDER BY k.place)
  FROM pg_index i, unnest(i.indkey) WITH ORDINALITY k(attnum, place), pg_attribute a
 WHERE i.indrelid = ANY ($1::oid[]) AND i.indisprimary AND k.place <= i.indnkeyatts
   AND a.attrelid = i.indrelid AND a.attnum = k.attnum GROUP BY 1`;
/** Those whose rows would not be told any more. */
const BLIND = `SELECT format('%I.%I', n.nspname, c.relname) AS name, t.oid IS NOT NULL AS present
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_trigger t ON t.tgrelid = c.oid AND t.tgname = '${CAPTURE_TRIGGER}'
    AND t.tgfoid = to_regprocedure('pg_temp.cofferdam_capture()') AND t.tgqual IS NULL
 WHERE c.oid = ANY ($1::oid[]) AND t.tgenabled IS DISTINCT FROM 'A'`;

/** The tables on which a trigger of ours tells every row that changes, until the transaction is rolled back. */
export class WatchedTables {
  readonly #session: Session;
  readonly #oids = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** By oid. */
  get oids(): ReadonlySet<string> {
    return this.#oids;
  }

  /** Makes what the triggers need. */
  async prepare(): Promise<void> {
    for (const statement of PREPARATION) await this.#session.run(statement);
  }

  /** Watches one more table. */
  async add({ oid, name }: Table): Promise<void> {
    await this.#session.run(
      `CREATE TRIGGER ${CAPTURE_TRIGGER} AFTER INSERT OR UPDATE OR DELETE ON ${name}
         FOR EACH ROW EXECUTE FUNCTION pg_temp.cofferdam_capture()`,
    );
    await this.#enable(name);
    await this.#session.run(NOTE_KEYS, [[oid]]);
    this.#oids.add(oid);
  }

  /**
   * Goes on watching after a change of the schema, which may have switched our triggers off with others, or changed
   * keys. Gives the name of a table that cannot be watched any more; null when there is none.
   */
  async keepOn(): Promise<string | null> {
    if (this.#oids.size === 0) return null;
    const oids = [...this.#oids];
    for (const { name, present } of await this.#session.run(BLIND, [oids])) {
      if (present !== "t") return name ?? "";
      await this.#enable(name ?? "");
    }
    await this.#session.run(FORGET_KEYS);
    await this.#session.run(NOTE_KEYS, [oids]);
    return null;
  }

  /** Not even `session_replication_role` keeps it from telling then. */
  async #enable(name: string): Promise<void> {
    await this.#session.run(`ALTER TABLE ${name} ENABLE ALWAYS TRIGGER ${CAPTURE_TRIGGER}`);
  }
}
