import { createHash } from "node:crypto";
import type { Change } from "cofferdam";
import { contentTypeOf } from "./content-types.ts";
import { inParallel } from "./in-parallel.ts";
import { type Edit, type ObjectVersion, isUnchanged, plainProperties } from "./object-state.ts";
import { type OpenSandbox, changeOf } from "./open-sandbox.ts";
import { View } from "./view.ts";

/** Puts a whole object into the sandbox. It keeps the properties that the present one has. */
export async function writeObject(
  sandbox: OpenSandbox,
  key: string,
  content: Buffer,
): Promise<Change> {
  const { location, place, contentTypes } = sandbox;
  const view = await View.of(sandbox);
  const known = view.edits.get(key);
  const base = await wholeBase(sandbox, key, known);
  const isThere = known === undefined ? base !== null : known.mine !== null;
  if (!isThere) await view.requireRoom(key);
  const properties =
    known?.mine?.properties ??
    base?.properties ??
    plainProperties(contentTypeOf(key, contentTypes));
  const hash = createHash("sha256").update(content).digest("hex");
  const at = sandbox.now().toISOString();
  const edit = { base, mine: { hash, size: content.length, modified: at, properties } };
  // An edit that is known stays, because what it began with may not be the present object any more.
  if (known !== undefined || !isUnchanged(edit)) {
    await place.save(content);
    await place.note(new Map([[key, edit]]));
  }
  return { ...changeOf(location, key, edit), at };
}

/** Takes an object, or all objects below a folder, out of the sandbox's view. */
export async function removeObjects(sandbox: OpenSandbox, path: string): Promise<void> {
  const view = await View.of(sandbox);
  const removed = await presentAt(sandbox, view, path);
  const edits = [...removed].map(([key, { base }]) => {
    const edit = base === null ? null : { base, mine: null };
    return [key, edit] as const;
  });
  await sandbox.place.note(new Map(edits));
}

/** Moves an object, or all objects below a folder. Their contents are fetched, because others may remove them meanwhile. */
export async function renameObjects(sandbox: OpenSandbox, from: string, to: string): Promise<void> {
  const { location, place } = sandbox;
  const view = await View.of(sandbox);
  const moved = await presentAt(sandbox, view, from);
  const [source, target] = [location.keyOf(from), location.keyOf(to)];
  if (`${target}/`.startsWith(`${source}/`))
    throw view.problem(target, "exists", `lies in ${JSON.stringify(from)} itself`);
  if (await view.hasObject(target)) throw view.problem(target, "exists", "is there already");
  await view.requireRoom(target);
  const edits = await inParallel([...moved], async ([key, edit]) => {
    const { base, mine } = edit.mine === null ? await fetched(sandbox, view, key) : edit;
    const goal = location.keyOf(location.pathOf(`${target}${key.slice(source.length)}`));
    return [
      [key, base === null ? null : { base, mine: null }],
      [goal, { base: view.edits.get(goal)?.base ?? null, mine }],
    ] as [string, Edit | null][];
  });
  await place.note(new Map(edits.flat()));
}

/** The objects that the sandbox shows at a path and below it, with what is known about them. */
async function presentAt(
  { bucket, location }: OpenSandbox,
  view: View,
  path: string,
): Promise<ReadonlyMap<string, Edit>> {
  const key = location.keyOf(path);
  if (path === "") throw view.problem(key, "unwritable", "the root stays");
  const prefix = location.below(path);
  const found = new Map<string, Edit>();
  const base = view.edits.has(key) ? null : await bucket.head(key);
  if (base !== null) found.set(key, { base, mine: null });
  for await (const [name, version] of bucket.versions(prefix))
    if (!view.edits.has(name)) found.set(name, { base: version, mine: null });
  for (const [name, edit] of view.edits)
    if (edit.mine !== null && (name === key || name.startsWith(prefix))) found.set(name, edit);
  if (found.size === 0) throw view.problem(key, "missing", "is not there");
  return found;
}

/** What an edit begins with, read whole: its hash says whether the edit changes anything. */
async function wholeBase(
  { bucket }: OpenSandbox,
  key: string,
  known: Edit | undefined,
): Promise<ObjectVersion | null> {
  if (known === undefined) return (await bucket.get(key))?.version ?? null;
  const { base } = known;
  if (base === null || (base.hash !== null && base.properties !== null)) return base;
  return (await bucket.get(key, base.versionId))?.version ?? base;
}

/** An object of the bucket, staged as it is. */
async function fetched(sandbox: OpenSandbox, view: View, key: string): Promise<Edit> {
  const found = await sandbox.bucket.get(key);
  if (found === null) throw view.problem(key, "missing", "is not there");
  const { version, content } = found;
  const mine = {
    hash: await sandbox.place.save(content),
    size: content.length,
    modified: sandbox.now().toISOString(),
    properties: version.properties ?? plainProperties(undefined),
  };
  return { base: version, mine };
}
