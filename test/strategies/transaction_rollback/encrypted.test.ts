import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DatabaseError } from "../../../src/index.ts";
import { type Certificate, makeCertificate } from "../../support/certificate.ts";
import type { DatabaseServer } from "../../support/database-server.ts";
import { MariadbServer } from "../../support/mariadb-server.ts";
import { nobody } from "../../support/nobody.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { SHOP, makeGround, rowsOf } from "./fixture.ts";

const SETUP =
  "CREATE TABLE items (id int PRIMARY KEY, name varchar(9)); INSERT INTO items VALUES (1, 'one')";

interface Kind {
  readonly name: string;
  start(own: Certificate): Promise<DatabaseServer>;
  /** The ends of URLs: one that trusts the file of an authority, and one that needs a known one. */
  trusting(authority: string): string;
  readonly strict: string;
  /** A query that gives `t` or `1` in the column `is` over an encrypted connection. */
  readonly question: string;
}

const KINDS: readonly Kind[] = [
  {
    name: "PostgreSQL",
    start: ({ key, certificate }) =>
      PostgresServer.start({ ssl: "on", ssl_cert_file: certificate, ssl_key_file: key }),
    trusting: (authority) => `?sslmode=verify-full&sslrootcert=${authority}`,
    strict: "?sslmode=verify-full",
    question: `SELECT ssl::int AS "is" FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
  },
  {
    name: "MariaDB",
    start: ({ key, certificate }) =>
      MariadbServer.start(
        `--ssl-cert=${certificate}`,
        `--ssl-key=${key}`,
        "--require-secure-transport=ON",
      ),
    trusting: (authority) => `?ssl-mode=verify_identity&ssl-ca=${authority}`,
    strict: "?ssl-mode=VERIFY_CA",
    question:
      "SELECT VARIABLE_VALUE <> '' AS `is` FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_cipher'",
  },
];

describe.each(KINDS)("an encrypted connection to $name", (kind) => {
  const own = { certificate: null as Certificate | null, server: null as DatabaseServer | null };
  beforeAll(async () => {
    const owner = process.getuid?.() === 0 ? nobody : undefined;
    own.certificate = makeCertificate("localhost", owner);
    own.server = await kind.start(own.certificate);
  });
  afterAll(async () => {
    await own.server?.[Symbol.asyncDispose]();
    if (own.certificate !== null) removeFolder(own.certificate.folder);
  });

  const groundWith = (end: string): ReturnType<typeof makeGround> => {
    if (own.server === null) throw new Error("not before the tests");
    return makeGround(
      own.server,
      SETUP,
      ({ url }) => `${url.replace("127.0.0.1", "localhost")}${end}`,
    );
  };

  it("reads, commits and undoes with a server whose authority is named", async () => {
    const ground = groundWith(kind.trusting(own.certificate?.certificate ?? ""));
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    expect(rowsOf(await sandbox.read(kind.question))).toEqual([{ is: 1 }]);
    await sandbox.write("name", "UPDATE items SET name = 'two'");
    await sandbox.commit();
    expect(ground.sql("SELECT name FROM items")).toEqual(["two"]);
    await sandbox.rollback();
    expect(ground.sql("SELECT name FROM items")).toEqual(["one"]);
  });

  it("is not made to a server that nobody vouches for", async () => {
    const ground = groundWith(kind.strict);
    await using cofferdam = await ground.open();
    const creating = cofferdam.create("plan", SHOP);
    await expect(creating).rejects.toBeInstanceOf(DatabaseError);
    await expect(creating).rejects.toMatchObject({ data: { reason: "unreachable" } });
  });

  it("is made the way the URL says, or not at all", async () => {
    const ends = { PostgreSQL: "?sslrootcert=/nowhere", MariaDB: "?ssl-mode=maybe" };
    const ground = groundWith(ends[kind.name as keyof typeof ends]);
    await using cofferdam = await ground.open();
    await expect(cofferdam.create("plan", SHOP)).rejects.toBeInstanceOf(DatabaseError);
  });
});
