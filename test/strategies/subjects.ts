import { join } from "node:path";
import {
  type CofferdamOptions,
  type Resource,
  type Sandbox,
  type SandboxEvent,
  type SandboxRef,
  openCofferdam,
} from "../../src/index.ts";
import type { Cofferdam } from "../../src/index.ts";

/** One way of running a sandbox. */
export interface Subject {
  readonly name: string;
  readonly strategy: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** The strategies that copy the resource. */
export const COPIES: readonly Subject[] = [
  { name: "copy_on_write", strategy: "copy_on_write" },
  { name: "filesystem_copy", strategy: "filesystem_copy" },
];

/** The strategies and modes that every user can run everywhere. */
export const PLAIN: readonly Subject[] = [
  ...COPIES,
  { name: "overlay (copy)", strategy: "overlay", properties: { mode: "copy" } },
];

/** Needs root. */
export const KERNEL: Subject = {
  name: "overlay (kernel)",
  strategy: "overlay",
  properties: { mode: "kernel" },
};

/** What a bench is made with. */
export interface BenchOptions {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly open?: Partial<CofferdamOptions>;
}

/** A sandbox of a real resource; disposing of it cleans it up. */
export interface Bench extends AsyncDisposable {
  readonly coffer: Cofferdam;
  readonly ref: SandboxRef;
  readonly sandbox: Sandbox;
  readonly events: readonly SandboxEvent[];
  /** The private folder of the sandbox in its area. */
  readonly directory: string;
  /** The private place on the resource's device. */
  readonly area: string;
}

/** Makes a sandbox of a resource. The state lies in `state`, which should be beside the resource. */
export async function openBench(
  subject: Subject,
  location: string,
  state: string,
  options: BenchOptions = {},
): Promise<Bench> {
  const events: SandboxEvent[] = [];
  const coffer = await openCofferdam({
    stateDirectory: state,
    config: false,
    onEvent: (event) => void events.push(event),
    ...options.open,
  });
  const resource: Resource = {
    resourceId: "r",
    type: options.type ?? "fs-directory",
    location,
    properties: { ...subject.properties, ...options.properties },
  };
  const ref = await coffer.create("plan", resource, { strategy: subject.strategy });
  const directory = ref.metadata["directory"] as string;
  return {
    coffer,
    ref,
    sandbox: coffer.sandbox(ref),
    events,
    directory,
    area: join(directory, "../.."),
    async [Symbol.asyncDispose]() {
      await coffer.sandbox(ref).cleanup({ force: true });
      await coffer.close();
    },
  };
}
