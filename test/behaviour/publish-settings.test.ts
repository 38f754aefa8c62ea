import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Bench, PLAIN, type Subject, openBench } from "../strategies/subjects.ts";
import { names, shell } from "../strategies/shell.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";

interface Site {
  readonly real: string;
  readonly bench: Bench;
}

/** A sandbox of a directory, as a project with this configuration makes it. */
async function openSite(subject: Subject, tree: string, config: string): Promise<Site> {
  const folder = tempFolder();
  const real = join(folder, "real");
  mkdirSync(real);
  shell(real, tree);
  const file = join(folder, "cofferdam.yaml");
  writeFileSync(file, config);
  const bench = await openBench(subject, real, join(folder, "state"), { open: { config: file } });
  return { real, bench };
}

describe.each(PLAIN)("$name", (subject) => {
  test("what publish.exclude names stays in the sandbox and in the resource", async () => {
    const tree =
      "mkdir -p app/node_modules/x build/cache; echo old > app/node_modules/x/a; echo old > build/cache/b; echo old > app/main";
    const config = 'publish: { exclude: [node_modules, "*.log", build/cache] }';
    const { real, bench } = await openSite(subject, tree, config);
    await using _bench = bench;
    const { sandbox } = bench;
    const before = takeOracle(real);
    shell(
      await sandbox.getPath(),
      `echo new > app/main; echo new > app/node_modules/x/a; rm build/cache/b; echo new > build/cache/c
       mkdir -p logs build/other/cache; echo x > logs/today.log; echo new > build/other/cache/d`,
    );
    const { changes } = await sandbox.diff();
    const shown = changes.filter(({ kind }) => kind !== "attributesChanged");
    expect(shown.map(({ path }) => path)).toEqual([
      "app/main",
      "build/other",
      "build/other/cache",
      "build/other/cache/d",
      "logs",
    ]);
    const result = await sandbox.commit();
    expect(result.warnings).not.toEqual([]);
    expect(names(real)).toEqual([
      "app",
      "app/main",
      "app/node_modules",
      "app/node_modules/x",
      "app/node_modules/x/a",
      "build",
      "build/cache",
      "build/cache/b",
      "build/other",
      "build/other/cache",
      "build/other/cache/d",
      "logs",
    ]);
    expect(shell(real, "cat app/main app/node_modules/x/a build/cache/b")).toBe("new\nold\nold\n");
    await sandbox.undoCommit();
    expectOracleEqual(before, takeOracle(real));
    expect(shell(await sandbox.getPath(), "cat build/cache/c logs/today.log")).toBe("new\nx\n");
  });

  test("a folder goes without the excluded part of it", async () => {
    const tree = "mkdir -p app/node_modules; echo old > app/node_modules/a; echo old > app/main";
    const { real, bench } = await openSite(subject, tree, "publish: { exclude: [node_modules] }");
    await using _bench = bench;
    shell(await bench.sandbox.getPath(), "rm -r app");
    await bench.sandbox.commit();
    expect(names(real)).toEqual(["app", "app/node_modules", "app/node_modules/a"]);
    await bench.sandbox.rollback();
    shell(await bench.sandbox.getPath(), "rm -r app; echo file > app; echo new > other");
    await bench.sandbox.commit();
    expect(names(real)).toEqual(["app", "app/node_modules", "app/node_modules/a", "other"]);
  });

  test("publish.outward_links and publish.special_bits decide what may be published", async () => {
    const edit = "ln -s /etc out; echo x > tool; chmod 4755 tool";
    const published = async (config: string): Promise<string> => {
      const { real, bench } = await openSite(subject, "echo old > old", config);
      await using _bench = bench;
      shell(await bench.sandbox.getPath(), edit);
      const refused: unknown = await bench.sandbox.commit().catch((error: unknown) => error);
      if (refused instanceof Error) return JSON.stringify((refused as { data?: unknown }).data);
      return shell(real, "readlink out; stat -c %a tool");
    };
    expect(await published("{}")).toContain('"reason":"outwardLink"');
    expect(await published("publish: { outward_links: allow }")).toContain(
      '"reason":"specialBits"',
    );
    expect(await published("publish: { outward_links: allow, special_bits: drop }")).toBe(
      "/etc\n755\n",
    );
    expect(await published("publish: { outward_links: allow, special_bits: allow }")).toBe(
      "/etc\n4755\n",
    );
  });

  test("git at work in the real repository refuses a commit, and its volatile files stay behind", async () => {
    const tree = "git init -q; echo old > file; git add file";
    const { real, bench } = await openSite(subject, tree, "{}");
    await using _bench = bench;
    const { sandbox } = bench;
    shell(
      await sandbox.getPath(),
      "echo new > file; git add file; touch .git/gc.pid .git/HEAD.lock",
    );
    writeFileSync(join(real, ".git/index.lock"), "");
    const before = takeOracle(real);
    await expect(sandbox.commit()).rejects.toMatchObject({
      code: "SANDBOX_CONFLICT",
      data: { originalRestored: true, conflicts: [{ path: ".git/index.lock", reason: "locked" }] },
    });
    expectOracleEqual(before, takeOracle(real));
    shell(real, "rm .git/index.lock");
    await sandbox.commit();
    expect(
      shell(
        real,
        "git status --porcelain; git fsck --strict --no-dangling 2> /dev/null; ls .git/gc.pid .git/HEAD.lock 2>/dev/null || true",
      ),
    ).toBe("A  file\n");
    expect(shell(real, "git show :file")).toBe("new\n");
  });

  test("an index that lists the same entries is no change, and the user's own stays", async () => {
    const tree = "git init -q; echo old > file; git add file";
    const { real, bench } = await openSite(subject, tree, "{}");
    await using _bench = bench;
    const index = join(real, ".git/index");
    const [{ ino }, bytes] = [statSync(index), readFileSync(index)];
    shell(
      await bench.sandbox.getPath(),
      "touch -d 2001-02-03 file; git status > /dev/null; echo n > n",
    );
    expect(readFileSync(join(await bench.sandbox.getPath(), ".git/index")).equals(bytes)).toBe(
      false,
    );
    const { added, changed } = await bench.sandbox.commit();
    expect([added, changed]).toEqual([["n"], ["file"]]);
    expect(statSync(index).ino).toBe(ino);
    expect(readFileSync(index).equals(bytes)).toBe(true);
  });

  test("an index of a submodule that git refreshed after the commit stands in the way of no undo", async () => {
    const tree =
      "git init -q; mkdir .git/modules; git init -q --separate-git-dir .git/modules/lib lib; echo old > lib/l; git -C lib add l; echo 'gitdir: ../.git/modules/lib' > lib/.git";
    const { real, bench } = await openSite(subject, tree, "{}");
    await using _bench = bench;
    shell(await bench.sandbox.getPath(), "echo new > lib/n; git -C lib add n");
    await bench.sandbox.commit();
    expect(shell(real, "git -C lib ls-files")).toBe("l\nn\n");
    shell(real, "touch -d 2001-02-03 lib/l; git -C lib status > /dev/null");
    await bench.sandbox.rollback();
    expect(shell(real, "git -C lib ls-files")).toBe("l\n");
  });

  test("drift is told when it is asked for, and only what the sandbox did not touch", async () => {
    const tree = "mkdir d; for name in a b c d/e; do echo old > $name; done";
    const { real, bench } = await openSite(subject, tree, "{}");
    await using _bench = bench;
    await bench.sandbox.write("a", "new\n");
    shell(real, "echo theirs > a; echo theirs > b; rm c; echo theirs > f; echo theirs >> d/e");
    expect((await bench.sandbox.diff()).drift).toBeUndefined();
    const { drift, changes } = await bench.sandbox.diff({ drift: "full" });
    expect(drift?.filter(({ path }) => path !== "" && path !== "d")).toEqual([
      { path: "b", reason: "changed" },
      { path: "c", reason: "missing" },
      { path: "d/e", reason: "changed" },
      { path: "f", reason: "new" },
    ]);
    expect(changes.map(({ path }) => path)).toContain("a");
  });

  test("a resource larger than limits.warn_bytes is told, a smaller one is not", async () => {
    const config = "limits: { warn_bytes: 4000 }";
    const told = async (bytes: number): Promise<unknown> => {
      const tree = `head -c ${bytes} /dev/zero > file`;
      const { bench } = await openSite(subject, tree, config);
      await using _bench = bench;
      return bench.events.find(({ name }) => name === "resource.large");
    };
    expect(await told(3000)).toBeUndefined();
    expect(await told(5000)).toMatchObject({
      level: "warning",
      data: { resourceId: "r", bytes: 5000, warnBytes: 4000 },
    });
  });
});
