import { IdlePool } from "./idle-pool.ts";
import type { Session as MariadbSession } from "./mariadb/session.ts";
import type { Session as PostgresSession } from "./postgres/session.ts";
import type { WorkerProcess } from "./sqlite/worker-process.ts";

/** What one instance keeps between calls, by kind of server. */
export class IdlePools {
  readonly mariadb = new IdlePool<MariadbSession>();
  readonly postgres = new IdlePool<PostgresSession>();
  readonly sqlite = new IdlePool<WorkerProcess>();

  /** Ends all of it; what a later call makes is kept again. */
  async clear(): Promise<void> {
    await Promise.all([this.mariadb.clear(), this.postgres.clear(), this.sqlite.clear()]);
  }
}
