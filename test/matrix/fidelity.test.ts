import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type FileSystemKind, mountFileSystem } from "../support/loop.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { createTempFolder, tempFolder } from "../support/temp.ts";
import { COLUMNS, type Column } from "./fidelity/columns.ts";
import { BEYOND, LIMITS, limitOf } from "./fidelity/limits.ts";
import { type Findings, aspectsOf, measure } from "./fidelity/measure.ts";
import { renderPage } from "./fidelity/render.ts";

const SLOW = { timeout: 120_000 };

/** The rows with a difference after the commit, and everything that was different after the undo. */
function summarize(findings: Findings): { limited: string[]; undo: string[] } {
  const limited = [...findings].filter(([, { commit }]) => commit.length > 0);
  return {
    limited: limited.map(([row]) => row),
    undo: [...findings.values()].flatMap(({ undo }) => undo),
  };
}

function expected(column: Column): ReturnType<typeof summarize> {
  const rows = aspectsOf(column).map(({ name }) => name);
  return { limited: rows.filter((row) => limitOf(column, row) !== undefined), undo: [] };
}

describe("the awkward tree", () => {
  it.each(COLUMNS)(
    "keeps all but the documented limits in $name by $user, and undo keeps all (R33, R73, R260)",
    SLOW,
    async (column) => {
      const findings = await measure(column, tempFolder({ mode: 0o755 }));
      expect(summarize(findings)).toEqual(expected(column));
    },
  );

  const elsewhere = (["xfs", "btrfs", "tmpfs"] as const).flatMap((kind) =>
    COLUMNS.filter(({ name, user }) => user === "root" && /kernel|_/.test(name)).map((column) => ({
      kind,
      column,
      name: column.name,
    })),
  );
  it.each(elsewhere)("has the same limits in $name on $kind (R33, R61)", SLOW, async (one) => {
    await onFileSystem(one.kind, async (folder) => {
      expect(summarize(await measure(one.column, folder))).toEqual(expected(one.column));
    });
  });
});

describe("docs/fidelity.md", () => {
  it("says what the tests above measure", async () => {
    await expect(await renderPage()).toMatchFileSnapshot("../../docs/fidelity.md");
  });

  it("names a script for every limit, and no script is without one", () => {
    const scripts = readdirSync(fileURLToPath(new URL("../limits/", import.meta.url)));
    const named = new Set([...LIMITS, ...BEYOND].map(({ script }) => script));
    expect(scripts.toSorted()).toEqual([...named].toSorted());
  });
});

async function onFileSystem(
  kind: FileSystemKind,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  await using fileSystem = mountFileSystem(kind, { megabytes: kind === "tmpfs" ? 300 : 400 });
  const folder = createTempFolder({ mode: 0o755, below: fileSystem.mountPoint });
  try {
    await work(folder);
  } finally {
    removeFolder(folder);
  }
}
