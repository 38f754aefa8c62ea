import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Resource } from "../../../src/model/resource.ts";
import type { Json, SandboxRef } from "../../../src/model/sandbox-ref.ts";
import { type RelativePath, toBytePath } from "../../../src/model/byte-path.ts";
import {
  type OverlayOptions,
  OverlayWorkspace,
} from "../../../src/strategies/overlay/workspace.ts";
import type { OpenPlace } from "../../../src/tree/workspace.ts";

/** A sandbox of the strategy's workspace alone, without the engine around it. */
export interface TestSandbox extends AsyncDisposable {
  /** The real directory. */
  readonly root: string;
  readonly place: OpenPlace;
  readonly workspace: OverlayWorkspace;
  readonly metadata: { readonly [key: string]: Json };
  readonly events: readonly {
    readonly name: string;
    readonly data: { readonly [key: string]: Json };
  }[];
}

/** What a sandbox is made with. */
export interface TestSandboxOptions extends OverlayOptions {
  /** Where the folder of the sandbox is made; `area` beside the real directory unless given. */
  readonly area?: string;
  readonly only?: string;
  readonly exclude?: readonly string[];
  readonly properties?: Resource["properties"];
}

/** A relative path in the internal form. */
export function at(path: string): RelativePath {
  return toBytePath(path) as RelativePath;
}

/** A place for a sandbox over a real directory; its folder exists and is empty. */
export function makePlace(root: string, options: TestSandboxOptions = {}): OpenPlace {
  const directory = join(options.area ?? `${root}-area`, "sandbox");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const resource: Resource = {
    resourceId: "tree",
    type: options.only === undefined ? "fs-directory" : "fs-file",
    location: options.only === undefined ? root : join(root, options.only),
    ...(options.properties !== undefined && { properties: options.properties }),
  };
  const ref: SandboxRef = {
    schemaVersion: 1,
    sandboxId: "sandbox",
    planId: "plan",
    resourceId: "tree",
    strategyName: "overlay",
    chosenBy: "call",
    createdAt: new Date(0).toISOString(),
    baseFingerprintId: "",
    metadata: {},
  };
  return {
    ref,
    sandboxId: "sandbox",
    resource,
    directory: toBytePath(directory),
    root: toBytePath(root),
    only: options.only === undefined ? null : toBytePath(options.only),
    exclude: (options.exclude ?? []).map(at),
  };
}

/** Makes a sandbox over a real directory; disposing of it destroys it. */
export async function makeSandbox(
  root: string,
  options: TestSandboxOptions = {},
): Promise<TestSandbox> {
  const events: { name: string; data: { readonly [key: string]: Json } }[] = [];
  const host = {
    emit: (name: string, data: { readonly [key: string]: Json }) =>
      void events.push({ name, data }),
  };
  const workspace = new OverlayWorkspace(host, options);
  const place = makePlace(root, options);
  const { metadata } = await workspace.create(place);
  return {
    root,
    place,
    workspace,
    metadata,
    events,
    async [Symbol.asyncDispose]() {
      const left = await workspace.destroy(place);
      if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
    },
  };
}
