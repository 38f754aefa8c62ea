import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { installedIn, packageFolder } from "../support/package-folder.ts";
import { answerOf } from "./answers.ts";
import { type Home, coffer, makeHome } from "./coffer.ts";

const MODULE = `
import { FilesystemCopyStrategy, SandboxConflictError } from "cofferdam";

export class Late extends FilesystemCopyStrategy {
  prepare() {
    const conflicts = [{ path: "file", reason: "changed" }];
    const data = { originalRestored: true, undoDataAt: null, failedPath: "file", appliedCount: 0, conflicts };
    throw new SandboxConflictError("They were first", { data });
  }
}
`;

/** A project with a plug-in and a copy of the package of its own, as it has beside a command for all projects. */
function homeWithOwnCopy(): Home {
  const home = makeHome({
    "data/file": "old\n",
    "late.mjs": MODULE,
    "cofferdam.yaml":
      "sandbox:\n  custom_strategies:\n    late: { module: ./late.mjs, class: Late }\n",
  });
  const copy = join(home.project, "node_modules/cofferdam");
  mkdirSync(copy, { recursive: true });
  for (const name of ["dist", "package.json"])
    cpSync(join(packageFolder, name), join(copy, name), { recursive: true });
  const needed =
    installedIn === undefined ? join(packageFolder, "node_modules") : dirname(packageFolder);
  symlinkSync(needed, join(copy, "node_modules"));
  return home;
}

test("errors of a plug-in that has its own copy of the package are told as what they are (R131)", () => {
  const home = homeWithOwnCopy();
  answerOf(home, ["open", "try", "-r", "late+dir:./data"]);
  const edit = ["exec", "try", "--", "sh", "-c", "echo mine > data/file"];
  expect(coffer(home, edit).code).toBe(0);
  const { code, stderr } = coffer(home, ["commit", "try"]);
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining("`coffer resolve try file --mine`") as string,
  });
  expect(stderr).toContain("They were first");
});
