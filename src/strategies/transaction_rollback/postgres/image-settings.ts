import type { Session } from "./session.ts";

/** Settings that decide how values are written as text; images are always written with these. */
const SETTINGS = {
  TimeZone: "UTC",
  DateStyle: "ISO, YMD",
  IntervalStyle: "postgres",
  extra_float_digits: "3",
  bytea_output: "hex",
  xmloption: "content",
} as const;

/** The settings as clauses of a function. */
export const IMAGE_CLAUSES = Object.entries(SETTINGS)
  .map(([name, value]) => `SET ${name} = '${value}'`)
  .join(" ");

/** Runs work with the settings of images; the session has its own again afterwards. */
export async function withImageSettings<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const own = await session.run(
    `WITH own AS MATERIALIZED (SELECT name, current_setting(name) AS value, wanted
       FROM unnest($1::text[], $2::text[]) u(name, wanted))
     SELECT name, value, set_config(name, wanted, true) FROM own`,
    [Object.keys(SETTINGS), Object.values(SETTINGS)],
  );
  const result = await work();
  await set(
    session,
    own.map(({ name, value }) => [name ?? "", value ?? ""] as const),
  );
  return result;
}

async function set(session: Session, pairs: readonly (readonly [string, string])[]): Promise<void> {
  await session.run(
    "SELECT set_config(name, value, true) FROM unnest($1::text[], $2::text[]) u(name, value)",
    [pairs.map(([name]) => name), pairs.map(([, value]) => value)],
  );
}
