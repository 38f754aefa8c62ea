import type { SandboxRef } from "../../src/index.ts";
import { type Oracle, takeOracle } from "../support/oracle.ts";
import { type Place, makePlace, openPlace, shell } from "./place.ts";

/** A sandbox whose commit is to be taken back. */
export interface Committed {
  readonly place: Place;
  readonly ref: SandboxRef;
  /** The resource before the commit, and after it. */
  readonly old: Oracle;
  readonly published: Oracle;
}

/** Makes a tree and a sandbox of it, edits it and commits; both are shell text. */
export async function committed(strategy: string, tree: string, edit: string): Promise<Committed> {
  const place = makePlace(tree);
  const old = takeOracle(place.real);
  await using coffer = await openPlace(place);
  const ref = await coffer.create("plan", place.real, { strategy });
  shell(await coffer.sandbox(ref).getPath(), edit);
  await coffer.sandbox(ref).commit();
  return { place, ref, old, published: takeOracle(place.real) };
}
