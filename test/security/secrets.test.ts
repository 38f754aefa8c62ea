import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, it } from "vitest";
import {
  type Change,
  type CommitResult,
  type DiffView,
  type Resource,
  SandboxCreationError,
  SandboxError,
  type SandboxRef,
  loadConfig,
} from "../../src/index.ts";
import { ProbeStrategy } from "../fixtures/probe/probe-strategy.ts";
import { type Site, openSite } from "../manager/site.ts";
import { tempFolder } from "../support/temp.ts";

const PASSWORD = "correct-horse@battery";
const URL_WITH_PASSWORD = `postgresql://worker:${PASSWORD}@db.example.org:5432/orders?sslmode=require`;
const CONNECTION = `host=db user=worker password=${PASSWORD} dbname=orders`;

/** A plug-in for databases that is careless with what it was configured with. */
class LeakyStrategy extends ProbeStrategy {
  static leaks = false;

  #leak(): void {
    if (!LeakyStrategy.leaks) return;
    this.host.emit("database.lost", { url: URL_WITH_PASSWORD, tried: [CONNECTION] }, "warning");
    throw new Error(`cannot connect to ${URL_WITH_PASSWORD} (${CONNECTION})`);
  }

  override create(planId: string, resource: Resource): Promise<SandboxRef> {
    this.#leak();
    return super.create(planId, resource);
  }

  override read(ref: SandboxRef, path: string): Promise<Uint8Array> {
    this.#leak();
    return super.read(ref, path);
  }

  override write(ref: SandboxRef, path: string, content: string): Promise<Change> {
    this.#leak();
    return super.write(ref, path, content);
  }

  override diff(ref: SandboxRef): Promise<DiffView> {
    this.#leak();
    return super.diff(ref);
  }

  override commit(ref: SandboxRef): Promise<CommitResult> {
    this.#leak();
    return super.commit(ref);
  }

  override rollback(ref: SandboxRef): Promise<void> {
    this.#leak();
    return super.rollback(ref);
  }

  override checkpoint(ref: SandboxRef, id: string): Promise<void> {
    this.#leak();
    return super.checkpoint(ref, id);
  }

  override cleanup(ref: SandboxRef): Promise<void> {
    this.#leak();
    return super.cleanup(ref);
  }
}

/** A plug-in that puts what it was configured with into its refs. */
class TellingStrategy extends ProbeStrategy {
  override async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const ref = await super.create(planId, resource);
    return { ...ref, metadata: { ...ref.metadata, connection: { url: URL_WITH_PASSWORD } } };
  }
}

const STRATEGIES = { leaky: LeakyStrategy, telling: TellingStrategy };

async function failureOf(promise: Promise<unknown>): Promise<SandboxError> {
  const error: unknown = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SandboxError);
  return error as SandboxError;
}

/** Everything that the library wrote and told, without the plug-in's own error behind it. */
function expectSilence({ stateDirectory, events }: Site, errors: readonly SandboxError[]): void {
  const found = spawnSync("grep", ["-rlaF", "--", "correct-horse", stateDirectory]);
  expect([found.status, found.stdout.toString()]).toEqual([1, ""]);
  const told = errors.map((error) => [
    error.stack,
    error.message,
    JSON.stringify(error),
    error.hint,
  ]);
  expect(JSON.stringify([told, events])).not.toMatch(/correct-horse|battery/);
  expect(
    inspect(
      errors.map(({ data }) => data),
      { depth: 9 },
    ),
  ).not.toMatch(/correct-horse|battery/);
}

it.each<[string, string, Partial<Resource>]>([
  ["the location", "plan", { location: URL_WITH_PASSWORD }],
  ["the id", "plan", { resourceId: URL_WITH_PASSWORD }],
  ["the plan", URL_WITH_PASSWORD, {}],
  ["a property", "plan", { properties: { database: { url: URL_WITH_PASSWORD } } }],
  ["a list of properties", "plan", { properties: { hosts: ["a", CONNECTION] } }],
  ["a property of that name", "plan", { properties: { database: { password: PASSWORD } } }],
])(
  "refuses a resource with a password in %s, and stores nothing of it (R238)",
  async (_, planId, part) => {
    const site = await openSite({ strategies: STRATEGIES });
    const resource = { resourceId: "orders", type: "fs-directory", location: site.data, ...part };
    const error = await failureOf(site.coffer.create(planId, resource, { strategy: "leaky" }));
    expect(error).toBeInstanceOf(SandboxCreationError);
    expect(error.data).toEqual({ stage: "arguments", residue: [] });
    expectSilence(site, [error]);
  },
);

it("refuses a URL with a password in the place of a path (R238)", async () => {
  const site = await openSite();
  const errors = [
    await failureOf(site.coffer.create("plan", URL_WITH_PASSWORD)),
    await failureOf(site.coffer.inspectStrategies(URL_WITH_PASSWORD)),
  ];
  for (const error of errors) expect(error.data).toEqual({ stage: "arguments", residue: [] });
  expectSilence(site, errors);
});

it.each(["postgres://worker@db.example.org/orders", "//worker:pass@db", "worker:pass@db/orders"])(
  "tells nothing of %j where the name of a connection is expected (R238)",
  async (location) => {
    const site = await openSite();
    const resource = { resourceId: "orders", type: "database", location };
    const error = await failureOf(site.coffer.create("plan", resource));
    expect(error).toMatchObject({
      code: "SANDBOX_CREATION",
      data: { stage: "connection", residue: [] },
      hint: expect.stringContaining("connections in cofferdam.yaml") as string,
    });
    expect(JSON.stringify([error, error.stack, site.events])).not.toMatch(/worker|pass/);
    const found = spawnSync("grep", ["-rlaE", "--", "worker|pass", site.stateDirectory]);
    expect(found.stdout.toString()).toBe("");
  },
);

it("refuses a ref with a password in it, and removes what was made (R238)", async () => {
  const site = await openSite({ strategies: STRATEGIES });
  const error = await failureOf(site.coffer.create("plan", site.data, { strategy: "telling" }));
  expect(error.data).toMatchObject({ stage: "ref" });
  expectSilence(site, [error]);
});

it("hides the password in every error and event of a plug-in (R238)", async () => {
  const site = await openSite({ strategies: STRATEGIES });
  const sandbox = site.coffer.sandbox(
    await site.coffer.create("plan", site.data, { strategy: "leaky" }),
  );
  await sandbox.write("a", "new\n");
  LeakyStrategy.leaks = true;
  try {
    const errors = [
      await failureOf(site.coffer.create("other", site.data, { strategy: "leaky" })),
      await failureOf(sandbox.read("a")),
      await failureOf(sandbox.write("a", "again\n")),
      await failureOf(sandbox.diff()),
      await failureOf(sandbox.checkpoint("one")),
      await failureOf(sandbox.commit()),
      await failureOf(sandbox.cleanup()),
    ];
    expect(site.events.filter(({ name }) => name === "database.lost").length).toBeGreaterThan(5);
    const hidden = "postgresql://worker:***@db.example.org:5432";
    expect(errors.filter((error) => !JSON.stringify(error).includes(hidden))).toEqual([]);
    expectSilence(site, errors);
    // What was thrown is handed on untouched: only its thrower can know what is in it.
    expect(errors[1]?.cause).toBeInstanceOf(Error);
  } finally {
    LeakyStrategy.leaks = false;
  }
  await site.coffer.recover();
  await sandbox.cleanup({ force: true });
});

const LONG_URL = URL_WITH_PASSWORD.replace("worker", "worker-with-a-name-of-28-bytes");

it.each([
  ["a location", `resources: { db: { type: fs-file, location: "${URL_WITH_PASSWORD}" } }`],
  [
    "a property",
    `resources: { db: { type: fs-file, location: a, properties: { url: "${URL_WITH_PASSWORD}" } } }`,
  ],
  [
    "a list",
    `resources: { db: { type: fs-file, location: a, properties: { all: ["${CONNECTION}"] } } }`,
  ],
  ["a text that is cut", `resources: { db: { type: "${LONG_URL}", location: a } }`],
  ["a name of a strategy", `sandbox: { strategy: "${URL_WITH_PASSWORD}" }`],
  ["a key", `"${URL_WITH_PASSWORD}": true`],
  ["text that is no YAML", `resources: "${URL_WITH_PASSWORD}`],
])("shows no password of a configuration that has it in %s (R238)", async (_, text) => {
  const file = join(tempFolder(), "cofferdam.yaml");
  writeFileSync(file, text);
  const error = await failureOf(loadConfig(file));
  expect(error.code).toBe("CONFIGURATION");
  expect(inspect(error, { depth: 9 })).not.toMatch(/correct-horse|battery/);
});
