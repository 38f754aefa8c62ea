import type { StrategyHost } from "cofferdam";
import type { ContainerEngine } from "./container-engine.ts";
import type { ContainerSettings } from "./container-options.ts";
import { LABEL, configChanges } from "./create-arguments.ts";
import { type RunningContainer, type SystemRecord, type SystemState } from "./system-record.ts";
import { systemChanges } from "./system-changes.ts";

/** With more, file systems of layers cannot be mounted any more: then all of them become one. */
const MOST_LAYERS = 100;
/** So many paths of a system are told with the event. */
const TOLD_PATHS = 20;

/** What a system is made of. */
export interface SystemParts {
  readonly host: StrategyHost;
  readonly engine: ContainerEngine;
  readonly record: SystemRecord;
  readonly sandboxId: string;
  /** The image that it began with. */
  readonly base: string;
  readonly settings: ContainerSettings;
}

interface TakenLayer {
  readonly state: SystemState;
  /** The paths that the command changed in the system. */
  readonly changed: readonly string[];
}

/** The system of one sandbox: an image that grows by a layer with each command that changes it. */
export class SandboxSystem {
  readonly #parts: SystemParts;

  constructor(parts: SystemParts) {
    this.#parts = parts;
  }

  /** The name under which images of a sandbox are kept; names of images have no capitals. */
  static repositoryOf(sandboxId: string): string {
    return `localhost/cofferdam/${sandboxId.toLowerCase()}`;
  }

  get #repository(): string {
    return SandboxSystem.repositoryOf(this.#parts.sandboxId);
  }

  /**
   * Ends the container of a command, takes its layer, and tells which paths the command changed. Idempotent: whatever was done before a crash is recognised by
   * the record, and a layer that it does not name is taken again.
   */
  async takeBack(): Promise<readonly string[]> {
    const { record } = this.#parts;
    const state = await record.read();
    if (state.running === null) return [];
    const { name, isTaken } = state.running;
    const condition = isTaken ? "" : await this.#conditionOf(name);
    const taken =
      condition === ""
        ? { state, changed: [] }
        : await this.#takeLayer(state, state.running, condition);
    await this.#removeContainer(name);
    await record.write({ ...taken.state, running: null });
    await this.dropUnused();
    return taken.changed;
  }

  /** Ends the container of a command whose end nobody saw, and gives up what it did to the system. Idempotent. */
  async giveUp(): Promise<void> {
    const { record } = this.#parts;
    const { running } = await record.read();
    if (running === null) return;
    await this.#removeContainer(running.name);
    await record.write({ ...(await record.read()), running: null });
  }

  /** Removes the images that neither the sandbox nor one of its checkpoints has any more. */
  async dropUnused(): Promise<void> {
    const { record, engine } = this.#parts;
    const state = await record.read();
    const needed = new Set([state.system, state.kept?.image, ...(await record.keptSystems())]);
    const unused = state.made.filter(({ image }) => !needed.has(image));
    if (unused.length === 0) return;
    for (const { name } of unused) await engine.attempt(["rmi", name]);
    await record.write({ ...state, made: state.made.filter((one) => !unused.includes(one)) });
  }

  /** Removes every container and image of the sandbox, also those that no record names. Idempotent. */
  async removeAll(): Promise<void> {
    const { engine, sandboxId } = this.#parts;
    const label = ["--filter", `label=${LABEL}=${sandboxId}`];
    const containers = await engine.ask(["ps", "--all", ...label, "--format", "{{.Names}}"]);
    for (const name of linesOf(containers)) await this.#removeContainer(name);
    const format = ["--format", "{{.ID}} {{.Repository}} {{.Tag}}"];
    const named = ["--filter", `reference=${this.#repository}`];
    const images = [label, named].map((filter) =>
      engine.ask(["images", "--all", ...filter, ...format]),
    );
    const names = (await Promise.all(images)).flatMap(linesOf).flatMap((line) => {
      const [id = "", repository = "", tag = ""] = line.split(" ");
      if (repository === this.#repository) return [`${repository}:${tag}`];
      // Somebody else's name for an image of the sandbox is not ours to take away.
      return repository === "<none>" ? [id] : [];
    });
    for (const name of new Set(names)) await engine.attempt(["rmi", name]);
  }

  /** The container as the engine sees it: `running`, `exited`, …; nothing when it is not there. */
  async #conditionOf(name: string): Promise<string> {
    const which = ["--all", "--filter", `name=^${name}$`, "--format", "{{.State}}"];
    return (await this.#parts.engine.ask(["ps", ...which])).toLowerCase();
  }

  async #takeLayer(
    state: SystemState,
    running: RunningContainer,
    condition: string,
  ): Promise<TakenLayer> {
    const { engine, record, host, sandboxId } = this.#parts;
    const { name, places } = running;
    if (condition !== "created" && condition !== "exited")
      await engine.attempt(["stop", "-t", "0", name]);
    const { all, own } = systemChanges(await engine.ask(["diff", name]), places);
    if (all === 0) return { state, changed: [] };
    const image = await this.#commit(state, running);
    const made = { name: `${this.#repository}:${state.next}`, image };
    const taken = {
      ...state,
      system: image,
      made: [...state.made, made],
      next: state.next + 1,
      running: { ...running, isTaken: true },
    };
    await record.write(taken);
    if (own.length > 0) {
      const data = { sandboxId, image, count: own.length, paths: own.slice(0, TOLD_PATHS) };
      host.emit("container.systemChanged", data);
    }
    return { state: taken, changed: own };
  }

  async #commit(state: SystemState, { name, variables }: RunningContainer): Promise<string> {
    const { engine, base, settings, sandboxId } = this.#parts;
    const { config, layers } = await engine.inspectImage(state.system ?? base);
    const changes = [
      ...configChanges(config, variables, settings),
      `LABEL ${LABEL}=${sandboxId}`,
    ].flatMap((change) => ["--change", change]);
    const squash = layers >= MOST_LAYERS && !engine.isDocker ? ["--squash"] : [];
    const target = `${this.#repository}:${state.next}`;
    const answer = await engine.ask(["commit", ...squash, ...changes, name, target]);
    return linesOf(answer).at(-1) ?? "";
  }

  /** The first attempt may find a container whose processes were killed, and only note that. */
  async #removeContainer(name: string): Promise<void> {
    const { engine } = this.#parts;
    const remove = ["rm", "--force", name];
    if ((await engine.attempt(remove)).exitCode === 0) return;
    if ((await this.#conditionOf(name)) !== "") await engine.ask(remove);
  }
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}
