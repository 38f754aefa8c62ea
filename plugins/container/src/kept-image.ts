import { SandboxConflictError, SandboxRollbackError } from "cofferdam";
import type { ContainerEngine } from "./container-engine.ts";
import type { KeptSystem } from "./system-record.ts";

/** Gives a system a name of the user's, and takes it back; all of it may be repeated. */
export class KeptImage {
  readonly #engine: ContainerEngine;
  readonly #kept: KeptSystem;
  /** Holds the image that had the name before, as long as it may have to come back. */
  readonly #holder: string;

  constructor(engine: ContainerEngine, kept: KeptSystem, repository: string) {
    this.#engine = engine;
    this.#kept = kept;
    this.#holder = `${repository}:before`;
  }

  /** @throws SandboxConflictError when the name was given to another image since it was looked at. */
  async refuseMoved(): Promise<void> {
    const { name, before } = this.#kept;
    if ((await this.#engine.imageId(name)) === before) return;
    const conflict = { path: name, reason: "changed", base: null, theirs: null, ours: null };
    throw new SandboxConflictError(`The image ${name} is another one than a moment ago`, {
      data: {
        originalRestored: true,
        undoDataAt: null,
        failedPath: name,
        appliedCount: 0,
        conflicts: [conflict],
      },
      hint: "Commit again.",
    });
  }

  /** @throws SandboxRollbackError when another image has the name, or the one before is not there any more. */
  async refuseForeign(): Promise<void> {
    const { name, image, before } = this.#kept;
    const found = await this.#engine.imageId(name);
    if (found !== image && found !== before)
      throw undoError("foreignEdits", `The image ${name} is not the one that was committed`, {
        paths: [name],
        hint: "Give the name back to the image of the plan, or remove it.",
      });
    if (before === null || (await this.#engine.imageId(before)) !== null) return;
    throw undoError("undoDataMissing", `The image that ${name} was before is not there any more`, {
      paths: [],
      hint: "The name stays with the image that was committed.",
    });
  }

  /** Gives the name to the system; what somebody else did with it meanwhile stays. Answers whether it has it. */
  async give(): Promise<boolean> {
    const { name, image, before } = this.#kept;
    const found = await this.#engine.imageId(name);
    if (found === image) return true;
    if (found !== before) return false;
    if (before !== null) await this.#engine.ask(["tag", before, this.#holder]);
    await this.#engine.ask(["tag", image, name]);
    return true;
  }

  /** Makes the name what it was before. */
  async takeBack(): Promise<void> {
    const { name, image, before } = this.#kept;
    if ((await this.#engine.imageId(name)) !== image) return;
    if (before === null) await this.#engine.ask(["rmi", name]);
    else await this.#engine.ask(["tag", before, name]);
  }

  /** Nothing has to come back any more. */
  async letGo(): Promise<void> {
    if (this.#kept.before !== null) await this.#engine.attempt(["rmi", this.#holder]);
  }
}

function undoError(
  reason: "foreignEdits" | "undoDataMissing",
  message: string,
  { paths, hint }: { readonly paths: readonly string[]; readonly hint: string },
): SandboxRollbackError {
  const data = { reason, originalRestored: false, undoDataAt: null, asideAt: null, paths };
  return new SandboxRollbackError(message, { data, hint });
}
