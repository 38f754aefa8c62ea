import { DatabaseSync } from "@photostructure/sqlite";

/** Another program that runs statements in a database, says so, and holds its transaction until its input ends. */
const [path = "", statements = ""] = process.argv.slice(2);
const database = new DatabaseSync(path, { timeout: 0 });
database.exec(statements);
process.stdout.write("holding\n");
process.stdin.resume();
process.stdin.on("end", () => database.close());
