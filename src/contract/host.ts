import type { CommitResult } from "../model/commit-result.ts";
import type { Resource } from "../model/resource.ts";
import type { Json, SandboxRef } from "../model/sandbox-ref.ts";
import type { CallOptions, CommitOptions, SandboxStrategy } from "./strategy.ts";

/** Time from outside, so that tests can be exact. */
export interface Clock {
  now(): Date;
}

/** New ids: sortable, unique, unguessable. */
export interface IdSource {
  next(): string;
}

/** Something that happened: noun first, past tense, plain data. */
export interface SandboxEvent {
  readonly name: string;
  readonly level: "info" | "warning";
  /** UTC, ISO 8601. */
  readonly at: string;
  readonly data: { readonly [key: string]: Json };
}

/** How an external program is started: never through a shell, with a bare environment. */
export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
}

/** How an external program ended. */
export interface RunResult {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** A private place on the device of a resource, from which renames into the resource work. */
export interface StorageArea {
  /** Absolute path of the area, mode 0700. */
  readonly path: string;
  /** Which rule found it; told by `coffer doctor`. */
  readonly foundBy: "state" | "mountRoot" | "ancestor" | "gitDirectory" | "parent";
  /** Absolute paths at or below the resource that hold our own state: left out of walk, diff and publish, and masked. */
  readonly ownPaths?: readonly string[];
}

/** A connection of the configuration. It may hold a password: never part of a ref, a record, an event or an error. */
export interface ConnectionSetting {
  /** Its scheme says which kind of server it is. */
  readonly url: string;
  /** A file whose first line is the password; null when the URL, or the server's own rules, will do. */
  readonly passwordFile: string | null;
  /** How long a server may be silent over what is quick before it counts as gone; a minute unless given. */
  readonly answerMs?: number;
}

/** What a strategy is constructed with. It reads no environment and no global state. */
export interface StrategyHost {
  readonly clock: Clock;
  readonly ids: IdSource;
  /** The name under which the strategy is registered. */
  readonly strategyName: string;
  /** The private state directory of this installation. */
  readonly stateDirectory: string;
  /** The connections of the configuration, by their names: a database names one of them as its location. */
  connections(): ReadonlyMap<string, ConnectionSetting>;
  /** Tells listeners what happened; the event sink adds the time. */
  emit(name: string, data: { readonly [key: string]: Json }, level?: "info" | "warning"): void;
  /** Starts a program with an argument list. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /**
   * Makes a request of an open file or folder that its file system has of its own, on another thread, and puts the
   * answer into `argument`. False where it was refused; why, a program that asks for the same can say.
   */
  ioctl(descriptor: number, request: number, argument: Uint8Array): Promise<boolean>;
  /** A place for layers, staged files and undo data of this resource. */
  areaFor(location: string): Promise<StorageArea>;
  /** A ref for a sandbox that is being created; its `sandboxId` is the same in every call for that sandbox. */
  newRef(
    planId: string,
    resource: Resource,
    metadata: { readonly [key: string]: Json },
    base?: string,
  ): SandboxRef;
  /** The resource that a sandbox was made for. */
  resourceOf(ref: SandboxRef): Promise<Resource>;
  /** Runs the commit of a single two-phase strategy as a transaction with one member. */
  commitAlone(
    strategy: SandboxStrategy,
    ref: SandboxRef,
    options?: CommitOptions,
  ): Promise<CommitResult>;
  /** Runs the undo of a single two-phase strategy's last commit as a transaction with one member. */
  undoAlone(strategy: SandboxStrategy, ref: SandboxRef, options?: CallOptions): Promise<void>;
}

/** A class that can be registered as a strategy. */
export type StrategyClass = new (
  host: StrategyHost,
  options?: Readonly<Record<string, unknown>>,
) => SandboxStrategy;
