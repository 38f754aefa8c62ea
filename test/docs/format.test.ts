import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FilesystemCopyStrategy, openCofferdam } from "../../src/index.ts";
import type { CommitResult, Sandbox, SandboxRef, TransactionPart } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";
import { checkout, readPage } from "./markdown.ts";

const page = readPage(checkout, "docs/format.md");

/** The names that a layout of the page allows, as patterns over whole paths. */
function patternsOf(layout: string, prefix = ""): RegExp[] {
  const block = page.blocks.find(({ marks }) => marks.get("layout") === layout);
  const names = (block?.text ?? "").split("\n").flatMap((line) => line.split(/\s/, 1));
  expect([layout, names.length > 1]).toEqual([layout, true]);
  return names
    .filter((name) => name !== "")
    .map((name) => {
      const pattern = `${prefix}${name}`
        .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
        .replaceAll(/<N>/g, String.raw`\d+`)
        .replaceAll(/<\w+>/g, "[^/.]+")
        .replace(/\/…$/, "(?:/.*)?");
      return new RegExp(`^${pattern}$`, "s");
    });
}

/** Files and links below a folder, and folders that are empty. */
function namesBelow(folder: string): string[] {
  const kinds = ["(", "-not", "-type", "d", "-o", "-empty", ")"];
  const args = [folder, "-xdev", "-mindepth", "1", ...kinds, "-printf", "%P\\0"];
  return execFileSync("find", args, { encoding: "utf8" }).split("\0").slice(0, -1);
}

function unexplained(folder: string, ...patterns: readonly RegExp[]): string[] {
  const empty = /^(?:plans|tx|done|area|area\/sandboxes)$/;
  const all = [...patterns, empty];
  return namesBelow(folder).filter((name) => !all.some((pattern) => pattern.test(name)));
}

interface Life {
  readonly stateDirectory: string;
  readonly sandbox: Sandbox;
}

/** Takes a sandbox through a life and calls back whenever there is something new to see. */
async function live(
  strategy: string,
  mode: string | undefined,
  look: (life: Life) => void,
): Promise<void> {
  const folder = tempFolder();
  const stateDirectory = join(folder, "state");
  const location = join(folder, "shop");
  mkdirSync(location);
  for (const name of ["a", "b"]) writeFileSync(join(location, name), `${name}\n`);
  symlinkSync("a", join(location, "link"));
  await using cofferdam = await openCofferdam({ stateDirectory, config: false });
  const properties = mode === undefined ? {} : { mode };
  const resource = { resourceId: "shop", type: "fs-directory", location, properties };
  const sandbox = cofferdam.sandbox(await cofferdam.create("My Plan", resource, { strategy }));
  const life = { stateDirectory, sandbox };
  look(life);
  await sandbox.write("a", "edited\n");
  await sandbox.write("new/file", "new\n");
  look(life);
  if (strategy !== "none") {
    await sandbox.checkpoint("one");
    await sandbox.remove("b");
    await sandbox.restoreCheckpoint("one");
    const plan = await cofferdam.plan("My Plan");
    await plan.checkpoint("of-the-plan");
    const fork = await plan.fork("My Fork");
    look(life);
    look({ ...life, sandbox: fork.sandbox("shop") });
    await fork.cleanup();
  }
  await sandbox.getPath();
  look(life);
  await sandbox.commit();
  look(life);
  if (strategy !== "none") await sandbox.rollback();
  look(life);
  await sandbox.cleanup();
}

test.for([
  ["filesystem_copy", undefined, ["copy", "commit"]],
  ["copy_on_write", undefined, ["copy", "commit"]],
  ["overlay", undefined, ["overlay", "commit"]],
  ["overlay", "copy", ["overlay", "commit"]],
  ["none", undefined, ["none"]],
] as const)(
  "everything that %s keeps on disk, mode %s, is explained on the page (R255)",
  async ([strategy, mode, layouts]) => {
    let looks = 0;
    await live(strategy, mode, ({ stateDirectory, sandbox }) => {
      looks += 1;
      expect(unexplained(stateDirectory, ...patternsOf("state"))).toEqual([]);
      const directory = sandbox.ref.metadata["directory"] as string;
      expect(directory).toMatch(new RegExp(`^${stateDirectory}/area/sandboxes/[^/]+$`));
      expect(unexplained(directory, ...layouts.flatMap((layout) => patternsOf(layout)))).toEqual(
        [],
      );
    });
    expect(looks).toBe(strategy === "none" ? 5 : 7);
  },
);

test("everything of a transaction that is under way is explained on the page (R255)", async () => {
  const seen: string[] = [];
  class Watched extends FilesystemCopyStrategy {
    override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
      seen.push(...namesBelow(this.host.stateDirectory));
      expect(unexplained(this.host.stateDirectory, ...patternsOf("state"))).toEqual([]);
      return super.commitPrepared(ref, tx);
    }
  }
  const folder = tempFolder();
  const options = { stateDirectory: join(folder, "state"), config: false as const };
  await using cofferdam = await openCofferdam({ ...options, strategies: { watched: Watched } });
  mkdirSync(join(folder, "shop"));
  const ref = await cofferdam.create("plan", join(folder, "shop"), { strategy: "watched" });
  const sandbox = cofferdam.sandbox(ref);
  await sandbox.write("file", "text");
  await sandbox.commit();
  const names = seen.map((name) => name.replace(/^tx\/\w+\//, "tx/"));
  expect(names).toEqual(
    expect.arrayContaining(["tx/lock", "tx/owner.json", "tx/intent.json", "tx/decision"]),
  );
  await sandbox.rollback();
  await sandbox.cleanup();
});
