import { basename } from "node:path";
import type { Sandbox } from "../../../src/index.ts";
import { configurationOf } from "../../../plugins/object-store/test/configuration.ts";
import { BucketRequests } from "../../support/bucket-requests.ts";
import type { CephServer } from "../../support/ceph-server.ts";
import type { Ground } from "../ground.ts";
import type { TreeState } from "../tree.ts";
import type { WorldMember } from "./member.ts";

/** What the edits leave, worked out by hand. */
const OBJECTS: Readonly<Record<TreeState, Readonly<Record<string, string>>>> = {
  old: {
    "a.txt": "alpha",
    "bin/tool": "tool",
    "docs/deep/old.md": "old",
    "docs/guide.md": "guide",
  },
  edited: {
    "a.txt": "edited",
    "bin/tool": "tool",
    "docs/manual.md": "guide",
    "new/inner/file.txt": "new",
  },
  later: { "a.txt": "later", "bin/tool": "tool", "docs/manual.md": "guide", "later.txt": "later" },
};

/** A bucket of a server that keeps versions, with the plug-in for it. Others look at it by curl. */
export function bucket(server: CephServer): WorldMember {
  const requests = new BucketRequests(server);
  return {
    id: "bucket",
    configuration: configurationOf(server),
    make: (ground) => requests.make(nameOf(ground), OBJECTS.old),
    resource: (ground) => ({ type: "bucket", location: `s3://${nameOf(ground)}` }),
    edit: (sandbox, to) => edits[to](sandbox),
    stateOf: (ground) => stateOfTexts(requests.texts(nameOf(ground)), ["old", "edited"]),
    stateOfSandbox: async (_ground, sandbox) =>
      stateOfTexts(await textsOf(sandbox, ""), ["old", "edited", "later"]),
    look: (ground) => requests.history(nameOf(ground)).join("\n"),
    unsettled: (ground) => requests.uploads(nameOf(ground)),
    leftovers: (ground) => requests.uploads(nameOf(ground)),
  };
}

const edits: Readonly<Record<Exclude<TreeState, "old">, (sandbox: Sandbox) => Promise<void>>> = {
  edited: async (sandbox) => {
    await sandbox.write("a.txt", "edited");
    await sandbox.write("new/inner/file.txt", "new");
    await sandbox.remove("docs/deep/old.md");
    await sandbox.rename("docs/guide.md", "docs/manual.md");
  },
  later: async (sandbox) => {
    await sandbox.write("a.txt", "later");
    await sandbox.write("later.txt", "later");
    await sandbox.remove("new/inner/file.txt");
  },
};

function nameOf({ folder }: Ground): string {
  return basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-");
}

async function textsOf(sandbox: Sandbox, folder: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const { name, type } of await sandbox.list(folder)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (type === "directory") Object.assign(texts, await textsOf(sandbox, path));
    else texts[path] = Buffer.from(await sandbox.read(path)).toString("utf8");
  }
  return texts;
}

function stateOfTexts(
  texts: Readonly<Record<string, string>>,
  possible: readonly TreeState[],
): TreeState {
  const told = linesOf(texts);
  const found = possible.find((state) => linesOf(OBJECTS[state]) === told);
  if (found === undefined) throw new Error(`the objects are a mixture: ${told}`);
  return found;
}

function linesOf(texts: Readonly<Record<string, string>>): string {
  const lines = Object.entries(texts).map(([key, text]) => `${key} ${text}`);
  return lines.sort().join(", ");
}
