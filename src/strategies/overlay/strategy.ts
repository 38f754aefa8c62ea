import { statSync } from "node:fs";
import type { StrategyCapabilities } from "../../contract/capabilities.ts";
import type { RunResult, StrategyHost } from "../../contract/host.ts";
import type { ProbeResult, SandboxLayers } from "../../contract/strategy.ts";
import { describeThrown } from "../../errors/index.ts";
import { FileStrategy, type FileStrategyOptions } from "../../tree/strategy/file-strategy.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import { keepAncestors } from "../../tree/strategy/keep-ancestors.ts";
import { makePlace, openPlace, removePlace } from "../../tree/strategy/place.ts";
import type { InsideOptions } from "./run-inside.ts";
import { type OverlayOptions, OverlayWorkspace } from "./workspace.ts";

/** A stack of layers over the untouched resource: constant cost to make, checkpoint and throw away. */
export class OverlayStrategy extends FileStrategy {
  override readonly capabilities: StrategyCapabilities = {
    isolation: "full",
    undoCommit: true,
    prepare: true,
    path: true,
    pathCalls: true,
    checkpoints: "native",
    forks: true,
    drops: true,
    resolves: true,
    changeTracking: "exact",
  };
  protected override readonly workspace: OverlayWorkspace;

  constructor(host: StrategyHost, options: FileStrategyOptions & OverlayOptions = {}) {
    super(host, options);
    this.workspace = new OverlayWorkspace(host, options);
  }

  /**
   * Runs a command in namespaces of its own, in which the kernel has the sandbox mounted. The engine knows nothing of
   * it: status and locks are the caller's affair.
   * @throws PlatformUnsupportedError (`PLATFORM_UNSUPPORTED`) in every mode but `userns`.
   */
  async runInside(
    ref: SandboxRef,
    argv: readonly string[],
    options?: InsideOptions,
  ): Promise<RunResult> {
    return this.workspace.runInside(await openPlace(this.host, ref), argv, options);
  }

  /** Without root the kernel mounts the layers only in the command's own namespace, faster than a program could. */
  async beginLayers(ref: SandboxRef): Promise<SandboxLayers | null> {
    return this.workspace.beginLayers(await openPlace(this.host, ref));
  }

  async endLayers(ref: SandboxRef): Promise<void> {
    await this.workspace.endLayers(await openPlace(this.host, ref));
  }

  async unchangeable(ref: SandboxRef): Promise<readonly string[]> {
    return this.workspace.unchangeable(await openPlace(this.host, ref));
  }

  /** Only here: those that copy would have to look at everything. */
  async keepBases(ref: SandboxRef): Promise<void> {
    const cause = await keepAncestors(this.workspace, await openPlace(this.host, ref));
    if (cause === null) return;
    const data = { sandboxId: ref.sandboxId, reason: describeThrown(cause) };
    this.host.emit("sandbox.basesNotKept", data, "warning");
  }

  /** Works everywhere; tries out, where a sandbox of the resource would live, which mode it would use. */
  async probe(location?: string): Promise<ProbeResult> {
    if (location === undefined) return { works: true };
    const type = statSync(location).isDirectory() ? "fs-directory" : "fs-file";
    const place = await makePlace(this.host, "probe", { resourceId: "probe", type, location });
    try {
      const { mode, tried } = await this.workspace.probe(place);
      const failed = tried.filter((one) => !one.works);
      if (failed.length === 0) return { works: true, mode };
      const reason = failed.map((one) => `${one.mode}: ${one.reason}`).join("; ");
      return { works: true, mode, reason, hint: "`coffer doctor` tells what to install." };
    } finally {
      removePlace(place);
    }
  }
}
