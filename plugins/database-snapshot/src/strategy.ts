import {
  type Resource,
  SandboxCreationError,
  type SandboxRef,
  TransactionRollbackStrategy,
} from "cofferdam";
import { PostgresClones } from "./postgres-clones.ts";

const MARIADB = /^(mariadb|mysql):/i;

/** For databases: a command of the plan has a real clone of its own, which any client can connect to. */
export class DatabaseSnapshotStrategy extends TransactionRollbackStrategy {
  protected override readonly clones = new PostgresClones();

  override async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const url = this.host.connections().get(resource.location)?.url ?? "";
    if (MARIADB.test(url)) throw notForMariadb(resource.location);
    return super.create(planId, resource);
  }
}

function notForMariadb(name: string): SandboxCreationError {
  return new SandboxCreationError(
    `The connection ${name} is to a MariaDB database, which cannot be cloned inside of its server`,
    {
      data: { stage: "engine", residue: [] },
      operation: "create",
      hint: "Use the strategy transaction_rollback for it.",
    },
  );
}
