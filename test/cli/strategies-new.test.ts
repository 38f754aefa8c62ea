import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "./answers.ts";
import { coffer, makeHome } from "./coffer.ts";

test("writes a plug-in with the names that belong to its own", () => {
  const home = makeHome();
  const folder = join(home.project, "versioned-store");
  expect(answerOf(home, ["strategies", "new", "versioned-store"])).toEqual({
    strategyName: "versioned_store",
    className: "VersionedStoreStrategy",
    folder,
    files: ["package.json", "strategy.ts", "cofferdam.yaml", "conformance.test.mjs", "README.md"],
  });
  expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toMatchObject({
    name: "cofferdam-plugin-versioned-store",
    type: "module",
  });
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  expect(texts.join("")).not.toContain("ContentStore");
});

test("lists the files, and what to do next, for people", () => {
  const { code, stdout, stderr } = coffer(makeHome(), ["strategies", "new", "store"]);
  expect(code).toBe(0);
  expect(stdout).toContain("Made store: strategy store, class StoreStrategy");
  expect(stderr).toContain("cd store && npm install --ignore-scripts --no-save ");
});

test("writes a conformance test that runs in folders of any name", () => {
  const home = makeHome();
  const folder = join(home.project, "with space, 100% ü");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(join(import.meta.dirname, "../.."), join(folder, "node_modules/cofferdam"));
  coffer(home, ["strategies", "new", "store"], { cwd: folder });
  const args = ["--test", "--test-name-pattern=R227", "store/conformance.test.mjs"];
  expect(execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" })).toContain("R227");
});

test.for(["", "Store", "a b", "../up", "1st", "-x-", "a--b", "a/b", "x".repeat(61)])(
  "refuses %j, which cannot be the name of a package, and makes nothing",
  (name) => {
    const home = makeHome();
    const before = readdirSync(home.project);
    const { code, stderr } = coffer(home, ["strategies", "new", "--", name]);
    expect(code).toBe(2);
    expect(stderr).toContain("as in versioned-store");
    expect(readdirSync(home.project)).toEqual(before);
  },
);

test("never writes over what is there", () => {
  const home = makeHome();
  writeFileSync(join(home.project, "store"), "mine\n");
  const { code, stderr } = coffer(home, ["strategies", "new", "store"]);
  expect(code).toBe(2);
  expect(stderr).toContain("store is there already");
  expect(readFileSync(join(home.project, "store"), "utf8")).toBe("mine\n");
});
