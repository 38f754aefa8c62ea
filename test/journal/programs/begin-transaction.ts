import { openStateDirectory } from "../../../src/journal/state-directory.ts";
import { TransactionLog } from "../../../src/journal/transaction-log.ts";

/** Begins a transaction and prints what it says of its owner. */
const [state = "", ulid = ""] = process.argv.slice(2);
const { path } = await openStateDirectory(state);
const log = new TransactionLog(path);
await using transaction = await log.begin(ulid, {
  phase: "preparing",
  kind: "commit",
  gid: "coffer1:0000000000000000:x",
  message: null,
  members: [],
  at: "2024-01-01T00:00:00.000Z",
});
process.stdout.write(JSON.stringify(log.ownerOf(transaction.ulid)));
