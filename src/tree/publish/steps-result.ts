import { describeThrown, errnoOf } from "../../errors/index.ts";
import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { statFd } from "../../platform/native/index.ts";
import type { PublishContext, PublishMode } from "./publish-context.ts";

/** A version that somebody else made and that is kept, not lost. */
export interface Shelved {
  readonly path: RelativePath;
  /** Where it is; null when it is still at its path. */
  readonly keptAt: BytePath | null;
}

/** Why the steps stopped. */
export interface StepFailure {
  /** The path that could not be done; null when it was none in particular. */
  readonly path: RelativePath | null;
  /** Name of the system error. */
  readonly code: string | null;
  readonly message: string;
}

/** How far the steps came. */
export interface StepsResult {
  /** Steps that are done, those of an earlier try included. */
  readonly applied: number;
  /** What the entries hold that came out of the tree. */
  readonly keptBytes: number;
  /** Number of the device that they lie on. */
  readonly device: string;
  /** Edits of others that came in the way and are kept. */
  readonly shelved: readonly Shelved[];
  readonly mode: PublishMode;
  /** Null when everything is done and durable. */
  readonly failure: StepFailure | null;
}

/** Where a run of steps is, and the first thing that went wrong. */
export class Progress {
  done = 0;
  path: RelativePath | null = null;
  keptBytes = 0;
  readonly shelved: Shelved[] = [];
  #failure: StepFailure | null = null;

  /** Remembers the first failure only: the others follow from it or are told by the next try. */
  fail(thrown: unknown): void {
    const { path } = this;
    this.#failure ??= { path, code: errnoOf(thrown), message: describeThrown(thrown) };
  }

  /** Does one piece of work; a failure is remembered and does not stop the others. */
  attempt(path: RelativePath | null, work: () => void): void {
    this.path = path;
    try {
      work();
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  result({ mode, stage }: PublishContext): StepsResult {
    const { done: applied, keptBytes, shelved } = this;
    const device = statFd(stage.fd).dev.toString();
    return { applied, keptBytes, device, shelved, mode, failure: this.#failure };
  }
}
