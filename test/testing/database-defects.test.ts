import { fileURLToPath } from "node:url";
import { databaseAreas } from "cofferdam/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresServer } from "../support/postgres-server.ts";
import * as strategies from "./database-defects/strategies.ts";
import { postgresSubject, sqliteSubject } from "./database-subjects.ts";

/** For each rule of the kit for databases, the strategy that breaks it and no other of its area. */
const DEFECT_OF_RULE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  edits: {
    "shows edits to the sandbox and to nobody else": "PublishesOnRead",
    "keeps the sandboxes of two plans apart": "MixesPlans",
    "takes a script as a whole: one that fails half way changes nothing": "KeepsHalfOfScripts",
    "tells each changed row by its key": "HidesDeletions",
    "tells no change where a row became what it was": "NeverForgets",
    "forgets the edits when it is rolled back, and shows the database as it is now":
      "RollsNothingBack",
    "brings a kept state back, also an older one and the newer one again": "RestoresNothing",
    "makes a second sandbox with the same edits, which goes its own way": "ForksNothing",
    "goes on in another process that knows nothing but the ref": "ForgetsOtherProcesses",
    "takes what a command did by its own client, and keeps it from the real database":
      "IgnoresCommands",
  },
  commits: {
    "publishes the edits and tells every row of them": "HidesAdditions",
    "does nothing for a sandbox without edits, and says so": "NeverIdle",
    "refuses when the sandbox changed after it was reviewed": "IgnoresReviews",
    "never publishes over a row that somebody else changed": "SwallowsConflicts",
    "publishes beside other rows that somebody else changed": "WantsToBeAlone",
    "takes a commit back and keeps the edits, which can be committed again": "UndoesEdits",
    "takes nothing back where somebody changed a row since": "PretendsUndo",
    "frees everything, and leaves what was committed": "LeavesSomething",
    "prepares without publishing, and is abandoned or committed then, however often it is told":
      "CommitsOnlyOnce",
  },
};
/** What only a server does by itself: it prepares. */
const OF_SERVERS = ["IgnoresReviews", "CommitsOnlyOnce"];
const TWO_PHASES = Object.keys(DEFECT_OF_RULE["commits"] ?? {}).at(-1) ?? "";
const MODULE = fileURLToPath(new URL("./database-defects/strategies.ts", import.meta.url));

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: "off" });
});
afterAll(() => server[Symbol.asyncDispose]());

function areasOf(defect: string): ReturnType<typeof databaseAreas> {
  const configuration = `sandbox:
  plugin_roots: ["${fileURLToPath(new URL(".", import.meta.url))}"]
  custom_strategies:
    defect: { module: "${MODULE}", class: ${defect} }
`;
  const strategy = { strategyName: "defect", configuration };
  return databaseAreas(
    OF_SERVERS.includes(defect) ? postgresSubject(server, strategy) : sqliteSubject(strategy),
  );
}

describe.each(Object.entries(DEFECT_OF_RULE))("in the area %s", (area, rules) => {
  it.each(Object.entries(rules).map(([rule, defect]) => ({ rule, defect })))(
    "the strategy $defect breaks one rule and no other (R121)",
    async ({ rule, defect }) => {
      const checks = areasOf(defect).find(({ name }) => name === area)?.checks ?? [];
      const fitting = checks.filter(
        ({ title }) => OF_SERVERS.includes(defect) || title !== TWO_PHASES,
      );
      const broken: string[] = [];
      for (const { title, run } of fitting) {
        await run().catch(() => broken.push(title));
      }
      expect(broken).toEqual([rule]);
    },
  );
});

it("every rule of the kit for databases has a strategy that breaks it (R121)", () => {
  const all = areasOf("PublishesOnRead").flatMap(({ checks }) => checks.map(({ title }) => title));
  const known = Object.values(DEFECT_OF_RULE).flatMap((rules) => Object.entries(rules));
  expect(known.map(([title]) => title).toSorted()).toEqual(all.toSorted());
  expect(known.map(([, defect]) => defect).toSorted()).toEqual(Object.keys(strategies).toSorted());
});
