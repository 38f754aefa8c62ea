import { expect } from "vitest";
import type { Sandbox } from "../../../src/index.ts";
import { rowsOf } from "./fixture.ts";

/** What a kind of database has of its own words for. */
export interface CheckpointWords {
  /** A query for all names of `items`, sorted, with commas between them, as `names`. */
  readonly names: string;
  /** A script that changes every row, and a query that shows so with its answer. */
  readonly change: string;
  readonly query: string;
  readonly answer: readonly unknown[];
}

/** Keeps three states of `items`, which holds the name `one`, and restores them in any order; ends in the first and commits it. */
export async function expectCheckpoints(sandbox: Sandbox, words: CheckpointWords): Promise<void> {
  const names = async (): Promise<unknown> => rowsOf(await sandbox.read(words.names));
  await sandbox.write("a", "INSERT INTO items (name) VALUES ('a')");
  await sandbox.checkpoint("first");
  await sandbox.write(
    "b",
    "INSERT INTO items (name) VALUES ('b'); DELETE FROM items WHERE name = 'one'",
  );
  await sandbox.checkpoint("second");
  await sandbox.write("c", words.change);
  await sandbox.checkpoint("third");
  await sandbox.restoreCheckpoint("second");
  expect(await names()).toEqual([{ names: "a,b" }]);
  await sandbox.write("d", "INSERT INTO items (name) VALUES ('d')");
  expect(await names()).toEqual([{ names: "a,b,d" }]);
  await sandbox.restoreCheckpoint("first");
  expect(await names()).toEqual([{ names: "a,one" }]);
  await sandbox.restoreCheckpoint("third");
  expect(rowsOf(await sandbox.read(words.query))).toEqual(words.answer);
  await sandbox.restoreCheckpoint("first");
  await sandbox.commit();
}
