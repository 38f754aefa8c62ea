import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeFolder } from "../support/remove-folder.ts";
import { createTempFolder } from "../support/temp.ts";
import { checkout, installPacked } from "./install-packed.ts";

/** A project that has nothing but the packed package. */
let project: string;
beforeAll(() => {
  project = createTempFolder();
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
  installPacked(project);
}, 240_000);
afterAll(() => removeFolder(project));

function coffer(folder: string, ...args: readonly string[]): string {
  const program = join(project, "node_modules/cofferdam/dist/cli/main.js");
  const state = join(project, "state");
  return execFileSync(process.execPath, [program, ...args, "--state", state], {
    cwd: folder,
    encoding: "utf8",
  });
}

function makeSite(folder: string): void {
  mkdirSync(join(folder, "site"));
  writeFileSync(join(folder, "site/prices.txt"), "apples 3\n");
}

const EDIT = `
import { readFileSync } from "node:fs";
import { openCofferdam } from "cofferdam";
const coffer = await openCofferdam();
const plan = await coffer.plan("prices", ["./site"]);
await plan.checkpoint("before");
await plan.sandbox("site").write("prices.txt", "apples 5\\n");
await plan.sandbox("site").write("new/pears.txt", "pears 2\\n");
const { strategyName: strategy } = plan.sandbox("site").ref;
await plan.commit();
const committed = readFileSync("site/prices.txt", "utf8");
await plan.rollback();
console.log(JSON.stringify({ strategy, committed, undone: readFileSync("site/prices.txt", "utf8") }));
await plan.cleanup();
await coffer.close();
`;

describe("a project that has the packed package alone", () => {
  test("may link to it: npm then prepares what is built already", () => {
    const options = { cwd: join(project, "node_modules/cofferdam"), encoding: "utf8" } as const;
    expect(spawnSync("npm", ["run", "prepare"], options)).toMatchObject({ status: 0 });
  });

  test("uses the strategy of the examples as module:ClassName, from its own configuration (R22)", () => {
    const home = join(project, "shop");
    cpSync(join(checkout, "examples/content-store"), home, { recursive: true });
    makeSite(home);
    writeFileSync(join(home, "edit.mjs"), EDIT);
    const shown = execFileSync(process.execPath, ["edit.mjs"], {
      cwd: home,
      encoding: "utf8",
      env: { ...process.env, XDG_STATE_HOME: join(project, "state-home") },
    });
    expect(JSON.parse(shown)).toEqual({
      strategy: "./strategy.ts:ContentStoreStrategy",
      committed: "apples 5\n",
      undone: "apples 3\n",
    });
    expect(readdirSync(join(home, "site"))).toEqual(["prices.txt"]);
  });

  test("writes a plug-in that passes the conformance kit as it is", { timeout: 240_000 }, () => {
    coffer(project, "strategies", "new", "my-store");
    const cwd = join(project, "my-store");
    const told = readFileSync(join(cwd, "README.md"), "utf8");
    const [, testing = "false"] = /^## Test it\n\n {4}(.*)$/m.exec(told) ?? [];
    const { status, stdout } = spawnSync("sh", ["-c", testing], { cwd, encoding: "utf8" });
    expect({ status, stdout: status === 0 ? "" : stdout }).toEqual({ status: 0, stdout: "" });
    expect(Number(/^ℹ pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(40);
    expect(stdout).toMatch(/^ℹ fail 0$/m);
    expect(stdout).toMatch(/^ℹ skipped 0$/m);
    expect(stdout).toMatch(/^left out: \d+, because /m);
  });

  test("uses a plug-in that is installed as a package", () => {
    coffer(project, "strategies", "new", "other-store");
    const home = join(project, "other-shop");
    mkdirSync(home);
    makeSite(home);
    const place = join(project, "node_modules/cofferdam-plugin-other-store");
    renameSync(join(project, "other-store"), place);
    const [, known = ""] = readFileSync(join(place, "README.md"), "utf8").split("installed:\n\n");
    const [yaml = ""] = known.split("\n\nThen");
    writeFileSync(join(home, "cofferdam.yaml"), yaml.replaceAll(/^ {4}/gm, ""));
    const listed = coffer(home, "strategies", "site");
    expect(listed).toContain("other_store\n  has no trial of its own");
    coffer(home, "open", "prices", "-r", "other_store+dir:./site");
    const status = JSON.parse(coffer(home, "status", "prices", "--json")) as {
      sandboxes: { strategyName: string }[];
    };
    expect(status.sandboxes.map(({ strategyName }) => strategyName)).toEqual(["other_store"]);
    coffer(home, "clean", "prices", "--force");
  });
});
