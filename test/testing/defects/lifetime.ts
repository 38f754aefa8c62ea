import {
  chmodSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Resource, SandboxRef } from "../../../src/index.ts";
import { Good } from "./base.ts";

/** Dates every sandbox back. */
export class WrongCreationTime extends Good {
  override async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const ref = await super.create(planId, resource);
    return { ...ref, createdAt: "2001-02-03T04:05:06.000Z" };
  }
}

/** Touches the resource while it makes a sandbox. */
export class TouchesOnCreate extends Good {
  override async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const ref = await super.create(planId, resource);
    const link = join(resource.location, "broken-link");
    const { uid, gid } = lstatSync(link);
    lchownSync(link, uid, gid);
    return ref;
  }
}

/** Leaves something behind when it fails. */
export class LeaksOnFailure extends Good {
  override async create(planId: string, resource: Resource): Promise<SandboxRef> {
    try {
      return await super.create(planId, resource);
    } catch (error) {
      mkdirSync(join(this.host.stateDirectory, "area", "left-behind"), { recursive: true });
      throw error;
    }
  }
}

/** Shares a file between workspace and resource. */
export class SharesFiles extends Good {
  override async getPath(...args: Parameters<Good["getPath"]>): Promise<string> {
    const path = await super.getPath(...args);
    const copy = join(path, "shared/file");
    if (existsSync(copy)) {
      rmSync(copy);
      linkSync(join(await this.location(args[0]), "shared/file"), copy);
    }
    return path;
  }
}

/** Follows links of the resource and keeps what is behind them. */
export class CopiesBehindLinks extends Good {
  override async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const ref = await super.create(planId, resource);
    try {
      const target = readlinkSync(join(resource.location, "docs/secret"));
      writeFileSync(`${this.directory(ref)}/behind`, readFileSync(target));
    } catch {
      // Only one sample has such a link.
    }
    return ref;
  }
}

/** Gives copies the special bits of what they were copied from. */
export class KeepsSpecialBits extends Good {
  override async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const ref = await super.create(planId, resource);
    const special = `${this.directory(ref)}/g1/tree/bin/special`;
    if (lstatSync(special, { throwIfNoEntry: false }) !== undefined) chmodSync(special, 0o6755);
    return ref;
  }
}
