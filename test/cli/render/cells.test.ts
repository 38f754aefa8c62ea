import { expect, it } from "vitest";
import { cellsOf } from "../../../src/cli/render/cells.ts";

it("keeps numbers as the database wrote them, inside of values too", () => {
  const rows = `[{"n":12345678901234567890.10,"meta":{"k": [1, 2.50, "3"], "a": {"b": -1e3}},"t":"4"}]`;
  expect(cellsOf(rows)).toEqual([
    ["n", "meta", "t"],
    ["12345678901234567890.10", '{"k":[1,2.50,"3"],"a":{"b":-1e3}}', "4"],
  ]);
});

it("shows every column of a join, also those of the same name", () => {
  const rows = `[{"id":1,"name":"a","id":2,"of":{"id":3,"id":4}},\n {"id":5,"name":"id","id":6,"of":null}]`;
  expect(cellsOf(rows)).toEqual([
    ["id", "name", "id", "of"],
    ["1", "a", "2", '{"id":4}'],
    ["5", "id", "6", "NULL"],
  ]);
});
