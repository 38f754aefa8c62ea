import {
  NoneStrategy,
  type PathInput,
  type Resource,
  type SandboxRef,
} from "../../../src/index.ts";

/** Does not say that it does not isolate. */
export class HidesIsolation extends NoneStrategy {
  override async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const { metadata, ...ref } = await super.create(planId, resource);
    return { ...ref, metadata: { ...metadata, isolation: "full" } };
  }
}

/** Gives another path than that of the resource. */
export class GivesAnotherPath extends NoneStrategy {
  override async getPath(ref: SandboxRef, path?: PathInput): Promise<string> {
    return `${await super.getPath(ref, path)}/docs`;
  }
}

/** Says that it rolled back what took effect at once. */
export class PretendsRollback extends NoneStrategy {
  override rollback(): Promise<void> {
    return Promise.resolve();
  }
}
