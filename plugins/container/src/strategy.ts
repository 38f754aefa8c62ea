import { basename, dirname } from "node:path";
import {
  type CallOptions,
  type CleanupOptions,
  type CommandRequest,
  type CopyOnWriteStrategy,
  type EndedCommand,
  type HostCommand,
  type ProbeResult,
  PlatformUnsupportedError,
  type Resource,
  SandboxCreationError,
  type SandboxRef,
  type StrategyCapabilities,
  type StrategyHost,
} from "cofferdam";
import { type ContainerEngine, findEngine } from "./container-engine.ts";
import { type ContainerSettings, readSettings, settingsFor } from "./container-options.ts";
import { createArguments, variablesFor } from "./create-arguments.ts";
import { DeathWatch } from "./death-watch.ts";
import { ImageKeepingStrategy } from "./image-keeping-strategy.ts";
import { SandboxSystem } from "./sandbox-system.ts";
import { SystemRecord } from "./system-record.ts";

/** What stands in the ref about the containers of a sandbox. */
interface ContainerFacts {
  /** The program that made it. */
  readonly engine: string;
  /** The image by its content: its name may mean another one later. */
  readonly image: string;
}

type Options = ConstructorParameters<typeof CopyOnWriteStrategy>[1] &
  Readonly<Record<string, unknown>>;

/**
 * The commands of a plan run in a container of an image. What they do to the directory is an edit of its sandbox, as
 * everywhere; what they do to the system stays in a layer, which goes and comes back with the sandbox and its
 * checkpoints, and is never published, but can be kept as an image.
 *
 * The workspace is a plain directory, because an engine has to find it that may be a service of another user, or live in
 * another mount namespace.
 */
export class ContainerStrategy extends ImageKeepingStrategy {
  override readonly capabilities: StrategyCapabilities = {
    isolation: "full",
    undoCommit: true,
    prepare: true,
    path: true,
    pathCalls: true,
    encloses: true,
    checkpoints: "emulated",
    forks: true,
    drops: true,
    resolves: true,
    changeTracking: "scan",
  };
  readonly #settings: ContainerSettings;
  readonly #watch = new DeathWatch();

  constructor(host: StrategyHost, options: Options = {}) {
    super(host, options);
    this.#settings = readSettings(options);
  }

  override async create(
    planId: string,
    resource: Resource,
    options?: CallOptions,
  ): Promise<SandboxRef> {
    const engine = findEngine(this.host, this.#settings.engine);
    const image = await this.#findImage(engine, resource);
    const ref = await super.create(planId, resource, options);
    const container = { engine: engine.program, image };
    return { ...ref, metadata: { ...ref.metadata, container } };
  }

  override async fork(
    source: SandboxRef,
    checkpointId: string,
    planId: string,
    options?: CallOptions,
  ): Promise<SandboxRef> {
    const system = await this.recordOf(source).systemOf(checkpointId);
    if (system === null) return super.fork(source, checkpointId, planId, options);
    const resource = await this.host.resourceOf(source);
    const { sandboxId } = this.host.newRef(planId, resource, {});
    const record = new SystemRecord(this.host, sandboxId);
    const engine = this.engineOf(source);
    const name = `${SandboxSystem.repositoryOf(sandboxId)}:0`;
    try {
      // A name of its own: the image stays when the other sandbox goes.
      const made = [{ name, image: system }];
      await record.write({ system, made, next: 1, running: null, kept: null });
      await engine.ask(["tag", system, name]);
      return await super.fork(source, checkpointId, planId, options);
    } catch (error) {
      await engine.attempt(["rmi", name]);
      await record.remove();
      throw error;
    }
  }

  override async discardCreation(
    planId: string,
    resource: Resource,
    sandboxId: string,
  ): Promise<void> {
    const record = new SystemRecord(this.host, sandboxId);
    for (const { name } of (await record.read()).made)
      await findEngine(this.host, this.#settings.engine).attempt(["rmi", name]);
    await record.remove();
    await super.discardCreation(planId, resource, sandboxId);
  }

  async beginCommand(ref: SandboxRef, request: CommandRequest): Promise<HostCommand> {
    const engine = this.engineOf(ref);
    const record = this.recordOf(ref);
    const state = await record.read();
    const { type, location, ...rest } = await this.host.resourceOf(ref);
    const settings = settingsFor(this.#settings, { type, location, ...rest });
    const name = `cofferdam-${ref.sandboxId.toLowerCase()}`;
    const variables = variablesFor(request, settings);
    const args = createArguments(
      {
        name,
        sandboxId: ref.sandboxId,
        image: state.system ?? factsOf(ref).image,
        location: type === "fs-file" ? dirname(location) : location,
        settings,
        request,
      },
      Object.keys(variables),
    );
    const places = request.folders.map((one) => one.location);
    const running = { name, variables: Object.keys(variables), places, isTaken: false };
    await record.write({ ...state, running });
    const made = await engine.attempt(args, variables);
    if (made.exitCode !== 0) {
      await this.endCommand(ref);
      throw engine.failure("create", made);
    }
    this.#watch.begin(name, [engine.program, "kill", name], engine.environment);
    const keys = engine.isDocker ? [] : ["--detach-keys="];
    return {
      argv: [engine.program, "start", "--attach", "--interactive", ...keys, name],
      environment: engine.environment,
    };
  }

  async endCommand(ref: SandboxRef): Promise<EndedCommand> {
    const { running } = await this.recordOf(ref).read();
    if (running === null) return { changed: [] };
    this.#watch.end(running.name);
    return { changed: await (await this.#systemOf(ref)).takeBack() };
  }

  override async rollback(ref: SandboxRef): Promise<void> {
    // A command whose owner was killed must not go on in the workspace, and its layer is not wanted any more.
    if (this.recordOf(ref).isUsed) await (await this.#systemOf(ref)).giveUp();
    await super.rollback(ref);
    await this.#returnTo(ref, null);
  }

  override async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    const record = this.recordOf(ref);
    await record.keep(checkpointId);
    try {
      await super.checkpoint(ref, checkpointId);
    } catch (error) {
      await record.forget(checkpointId);
      throw error;
    }
  }

  override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await super.restoreCheckpoint(ref, checkpointId);
    await this.#returnTo(ref, await this.recordOf(ref).systemOf(checkpointId));
  }

  override async deleteCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await super.deleteCheckpoint(ref, checkpointId);
    const record = this.recordOf(ref);
    if (!record.isUsed) return;
    await record.forget(checkpointId);
    await (await this.#systemOf(ref)).dropUnused();
  }

  override async cleanup(ref: SandboxRef, options: CleanupOptions = {}): Promise<void> {
    const record = this.recordOf(ref);
    if (record.isUsed) {
      this.#watch.end(`cofferdam-${ref.sandboxId.toLowerCase()}`);
      try {
        await (await this.#systemOf(ref)).removeAll();
      } catch (error) {
        // Without the engine nobody could ever get rid of the sandbox.
        if (options.force !== true || !(error instanceof PlatformUnsupportedError)) throw error;
      }
    }
    await super.cleanup(ref, options);
    await record.remove();
  }

  override async probe(location?: string): Promise<ProbeResult> {
    try {
      const { program } = findEngine(this.host, this.#settings.engine);
      return { ...(await super.probe(location)), mode: program };
    } catch (error) {
      if (!(error instanceof PlatformUnsupportedError)) throw error;
      const { hint } = error;
      return { works: false, reason: error.data.reason, ...(hint !== null && { hint }) };
    }
  }

  protected override engineOf(ref: SandboxRef): ContainerEngine {
    return findEngine(this.host, this.#settings.engine ?? factsOf(ref).engine);
  }

  protected override recordOf({ sandboxId }: SandboxRef): SystemRecord {
    return new SystemRecord(this.host, sandboxId);
  }

  protected override async systemToKeep(
    ref: SandboxRef,
  ): Promise<{ readonly name: string; readonly image: string } | null> {
    const record = this.recordOf(ref);
    if (!record.isUsed) return null;
    const { keep } = settingsFor(this.#settings, await this.host.resourceOf(ref));
    const { system } = await record.read();
    return keep === null || system === null ? null : { name: keep, image: system };
  }

  /** Makes an earlier system the present one; null stands for the one that it began with. */
  async #returnTo(ref: SandboxRef, system: string | null): Promise<void> {
    const record = this.recordOf(ref);
    if (!record.isUsed) return;
    await record.write({ ...(await record.read()), system });
    await (await this.#systemOf(ref)).dropUnused();
  }

  async #systemOf(ref: SandboxRef): Promise<SandboxSystem> {
    return new SandboxSystem({
      host: this.host,
      engine: this.engineOf(ref),
      record: this.recordOf(ref),
      sandboxId: ref.sandboxId,
      base: factsOf(ref).image,
      settings: settingsFor(this.#settings, await this.host.resourceOf(ref)),
    });
  }

  /** The image that a new sandbox begins with, by its content. */
  async #findImage(engine: ContainerEngine, resource: Resource): Promise<string> {
    const { image, pull } = settingsFor(this.#settings, resource);
    if (image === null)
      throw imageError(resource, "It is not said which image its containers are made of", {
        hint: "Name it: `options: { image: NAME }` of the strategy, or `properties: { image: NAME }` of the resource.",
      });
    const found = await engine.imageId(image);
    if (found !== null) return found;
    if (pull) {
      await engine.ask(["pull", image]);
      const pulled = await engine.imageId(image);
      if (pulled !== null) return pulled;
    }
    throw imageError(resource, `The image ${image} is not there`, {
      hint: `Fetch it with \`${basename(engine.program)} pull ${image}\`, or set the option \`pull: true\`.`,
    });
  }
}

function imageError(
  { resourceId }: Resource,
  message: string,
  { hint }: { readonly hint: string },
): SandboxCreationError {
  return new SandboxCreationError(message, {
    operation: "create",
    resourceId,
    data: { stage: "image", residue: [] },
    hint,
  });
}

function factsOf({ metadata }: SandboxRef): ContainerFacts {
  return metadata["container"] as unknown as ContainerFacts;
}
