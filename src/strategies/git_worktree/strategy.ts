import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import type { StrategyCapabilities } from "../../contract/capabilities.ts";
import { createDiffView, digestChanges } from "../../contract/diff-view.ts";
import type { StrategyHost } from "../../contract/host.ts";
import type {
  CallOptions,
  DiffOptions,
  CleanupOptions,
  CommitOptions,
  ListedEntry,
  ProbeResult,
  Resolution,
  SandboxStrategy,
  TransactionPart,
} from "../../contract/strategy.ts";
import {
  SandboxCleanupError,
  type SandboxConflictError,
  SandboxError,
} from "../../errors/index.ts";
import { type PathInput, displayPath } from "../../model/byte-path.ts";
import type { Change } from "../../model/change.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { DiffView } from "../../model/diff-view.ts";
import type { Resource } from "../../model/resource.ts";
import type { Json, SandboxRef } from "../../model/sandbox-ref.ts";
import {
  assertBeneath,
  listBeneath,
  readBeneath,
  removeBeneath,
  renameBeneath,
} from "../../tree/beneath.ts";
import { commitFailure, notAsReviewed } from "../../tree/strategy/commit-errors.ts";
import { readCommitted } from "../../tree/strategy/committed-record.ts";
import type { FileStrategyOptions } from "../../tree/strategy/file-strategy.ts";
import { fillPlace } from "../../tree/strategy/fill-place.ts";
import {
  forkPlace,
  makePlace,
  openPlace,
  placeMetadata,
  removePlace,
  unfinishedPlaces,
} from "../../tree/strategy/place.ts";
import { resolveInput, resolveInputs } from "../../tree/strategy/resolve-input.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { COPY_CAPABILITIES } from "../copy/capabilities.ts";
import {
  forkCheckpoint,
  makeCheckpoint,
  removeCheckpoint,
  restoreCheckpoint,
} from "./checkpoint.ts";
import { refuseReplay } from "./checks.ts";
import { type GitRecord } from "./commit-record.ts";
import { driftOf } from "./drift.ts";
import { refuseCommit, repositoryGone, worktreeGone } from "./failures.ts";
import { GitCommit, type OpenSite } from "./git-commit.ts";
import { readGitProperties } from "./git-properties.ts";
import { Git, GitError, describeGit } from "./git.ts";
import { refuseIncludedCommits } from "./included-paths.ts";
import { probeGit } from "./probe.ts";
import {
  type Repository,
  findRepository,
  readHead,
  refused,
  requireHead,
  shortName,
} from "./repository.ts";
import { GIT_LINK, openSite, repositoryMetadata, siteOf, worktreePath } from "./site.ts";
import { dropPaths, resolvePaths } from "./settle.ts";
import { type FoundEdits, describeSite, diffSite, writeSite } from "./view.ts";
import { makeWorktree, removeWorktree, renewWorktree } from "./worktree.ts";

/** A linked worktree on a branch of its own; a commit moves branch, index and files of the user's checkout together. */
export class GitWorktreeStrategy implements SandboxStrategy {
  /** Checkpoints and forks are copies of the worktree, as those of the strategies that copy. */
  readonly capabilities: StrategyCapabilities = COPY_CAPABILITIES;
  readonly #host: StrategyHost;
  readonly #options: FileStrategyOptions;

  constructor(host: StrategyHost, options: FileStrategyOptions = {}) {
    this.#host = host;
    this.#options = options;
  }

  async create(planId: string, resource: Resource, options?: CallOptions): Promise<SandboxRef> {
    const git = this.#git(resource);
    const repository = await findRepository(git, resource);
    const head = await requireHead(git, repository, resource);
    const place = await makePlace(this.#host, planId, resource);
    return this.#fill(git, place, repository, async () => {
      await makeWorktree(git, siteOf(place, repository), head, options);
      const base = createHash("sha256").update(`${place.root}\0${head.commit}`).digest("hex");
      const metadata = { ...placeMetadata(place), ...repositoryMetadata(repository) };
      const facts = { ...metadata, commit: head.commit, branch: head.ref };
      return this.#host.newRef(planId, resource, facts, base);
    });
  }

  async fork(source: SandboxRef, checkpointId: string, planId: string): Promise<SandboxRef> {
    const from = await this.#open(source);
    const { repository } = from;
    const git = this.#git(from.place.resource);
    const place = forkPlace(this.#host, planId, await openPlace(this.#host, source));
    return this.#fill(git, place, repository, async () => {
      await forkCheckpoint(git, from, checkpointId, siteOf(place, repository));
      const metadata = { ...source.metadata, ...placeMetadata(place) };
      return this.#host.newRef(planId, place.resource, metadata, source.baseFingerprintId);
    });
  }

  async discardCreation(_planId: string, resource: Resource, sandboxId: string): Promise<void> {
    const places = unfinishedPlaces(this.#host, resource, sandboxId);
    if (places.length === 0) return;
    const git = this.#git(resource);
    const repository = await findRepository(git, resource);
    for (const place of places) await this.#destroy(git, place, repository);
  }

  async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    const site = await this.#live(ref);
    return readBeneath(worktreePath(site), resolveInput(site.place, path));
  }

  async write(ref: SandboxRef, path: PathInput, content: Uint8Array | string): Promise<Change> {
    const site = await this.#live(ref);
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
    const git = this.#git(site.place.resource);
    return writeSite(git, site, resolveInput(site.place, path), bytes, this.#host.clock);
  }

  async diff(ref: SandboxRef, options: DiffOptions = {}): Promise<DiffView> {
    const site = await this.#open(ref);
    // After a commit the worktree is what was committed; there is nothing more to publish.
    if ((await readCommitted(site.place)) !== null) return emptyDiff(site);
    const git = this.#git(site.place.resource);
    requireWorktree(site);
    const found = await this.#look(git, site, options);
    const drift = options.drift === "full" ? await driftOf(git, site, found) : undefined;
    return diffSite(git, site, found, drift);
  }

  commit(ref: SandboxRef, options?: CommitOptions): Promise<CommitResult> {
    return this.#host.commitAlone(this, ref, options);
  }

  undoCommit(ref: SandboxRef, options?: CallOptions): Promise<void> {
    return this.#host.undoAlone(this, ref, options);
  }

  async rollback(ref: SandboxRef): Promise<void> {
    const site = await this.#live(ref);
    const git = this.#git(site.place.resource);
    const head = await readHead(git, site.repository);
    if (head === null) throw refused(site.place.resource, "unborn", "The branch has no commit");
    await renewWorktree(git, site, head);
  }

  async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    const site = await this.#live(ref);
    refuseReplay(site, "checkpoint");
    await makeCheckpoint(this.#git(site.place.resource), site, checkpointId);
  }

  async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    const site = await this.#live(ref);
    try {
      await restoreCheckpoint(this.#git(site.place.resource), site, checkpointId);
    } catch (error) {
      // Should the way back fail as well, whoever repairs it has to know where everything lies.
      if (error instanceof Error && !(error instanceof SandboxError))
        Object.assign(error, { keptAt: site.folder });
      throw error;
    }
  }

  async deleteCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    const site = await this.#open(ref);
    removeCheckpoint(site, checkpointId);
  }

  async cleanup(ref: SandboxRef, _options?: CleanupOptions): Promise<void> {
    const { place, repository, branch, pins } = await this.#open(ref);
    const isGone = !existsSync(repository.commonDirectory);
    await this.#destroy(this.#git(place.resource), place, repository);
    // Somebody moved it, and nobody else knows what it still has of the sandbox.
    if (!isGone) return;
    const left = { repository: repository.root, branch: shortName(branch), pins };
    this.#host.emit("sandbox.worktreeLeft", { sandboxId: ref.sandboxId, ...left }, "warning");
  }

  async getPath(ref: SandboxRef, path: PathInput = ""): Promise<string> {
    const site = await this.#live(ref);
    const relative = resolveInput(site.place, path, "root");
    assertBeneath(worktreePath(site), relative);
    return site.worktree + (relative === "" ? "" : `/${displayPath(relative)}`);
  }

  async list(ref: SandboxRef, path: PathInput): Promise<readonly ListedEntry[]> {
    const site = await this.#live(ref);
    const relative = resolveInput(site.place, path, "root");
    const entries = listBeneath(worktreePath(site), relative);
    return relative === "" ? entries.filter(({ name }) => name !== GIT_LINK) : entries;
  }

  async remove(ref: SandboxRef, path: PathInput): Promise<void> {
    const site = await this.#live(ref);
    removeBeneath(worktreePath(site), resolveInput(site.place, path));
  }

  async rename(ref: SandboxRef, from: PathInput, to: PathInput): Promise<void> {
    const site = await this.#live(ref);
    const [old, wanted] = [resolveInput(site.place, from), resolveInput(site.place, to)];
    renameBeneath(worktreePath(site), old, wanted);
  }

  async drop(ref: SandboxRef, paths: readonly PathInput[]): Promise<void> {
    const site = await this.#live(ref);
    const git = this.#git(site.place.resource);
    const found = await this.#look(git, site, {});
    await dropPaths(git, site, found, resolveInputs(site.place, paths));
  }

  async resolve(ref: SandboxRef, paths: readonly PathInput[], how: Resolution): Promise<void> {
    const site = await this.#live(ref);
    const git = this.#git(site.place.resource);
    const found = await this.#look(git, site, {});
    const findConflict = (): Promise<SandboxConflictError | null> =>
      this.#commits(git).findConflict(site);
    await resolvePaths({ git, found, findConflict }, site, resolveInputs(site.place, paths), how);
  }

  async prepare(ref: SandboxRef, tx: TransactionPart, options: CommitOptions = {}): Promise<Json> {
    const site = await this.#open(ref);
    const git = this.#git(site.place.resource);
    if (tx.kind === "undo") {
      requireRepository(site);
      return this.#commits(git).prepareUndo(site);
    }
    requireWorktree(site);
    try {
      if (options.expect !== undefined) {
        const { changes } = await this.#look(git, site, options);
        if (digestChanges(changes) !== options.expect) throw notAsReviewed();
      }
      await refuseIncludedCommits(git, site);
      return await this.#commits(git).prepare(site, tx, options);
    } catch (error) {
      if (error instanceof SandboxError) throw error;
      if (!(error instanceof GitError)) throw commitFailure(error, null);
      throw refuseCommit("git", `git failed: ${describeGit(error)}`, { cause: error });
    }
  }

  async fence(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const site = await this.#open(ref);
    const commits = this.#commits(this.#git(site.place.resource));
    await (tx.kind === "undo"
      ? commits.fenceUndo(site, tx, recordOf(tx))
      : commits.fence(site, tx, recordOf(tx)));
  }

  async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    const site = await this.#open(ref);
    const commits = this.#commits(this.#git(site.place.resource));
    return tx.kind === "undo"
      ? commits.applyUndo(site, tx, recordOf(tx))
      : commits.apply(site, tx, recordOf(tx));
  }

  async reversePrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const site = await this.#open(ref);
    const commits = this.#commits(this.#git(site.place.resource));
    if (tx.kind === "undo") await commits.apply(site, tx, recordOf(tx));
    else await commits.reverse(site, tx, recordOf(tx));
  }

  async abandonPrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const site = await this.#open(ref);
    await this.#commits(this.#git(site.place.resource)).abandon(site, tx);
  }

  async forget(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    // A commit's staged folder now is its undo data; only an undo has nothing more to keep.
    if (tx.kind !== "undo") return;
    const site = await this.#open(ref);
    await this.#commits(this.#git(site.place.resource)).finishUndo(site, recordOf(tx));
  }

  async checkUndo(ref: SandboxRef): Promise<void> {
    const site = await this.#open(ref);
    requireRepository(site);
    await this.#commits(this.#git(site.place.resource)).prepareUndo(site);
  }

  async dropUndo(ref: SandboxRef): Promise<boolean> {
    const site = await this.#open(ref);
    return this.#commits(this.#git(site.place.resource)).dropUndo(site);
  }

  /** Needs a git that merges without a checkout. */
  probe(): Promise<ProbeResult> {
    return probeGit(new Git(this.#host));
  }

  #git(resource: Resource): Git {
    const { gitTimeoutMs } = readGitProperties(resource);
    return new Git(this.#host, gitTimeoutMs ?? undefined);
  }

  #commits(git: Git): GitCommit {
    const { exclude = [], policy = {} } = this.#options;
    return new GitCommit(this.#host, git, { exclude, policy });
  }

  #look(git: Git, site: OpenSite, { signal }: CallOptions): Promise<FoundEdits> {
    const name = `look-${this.#host.ids.next()}`;
    const { exclude = [] } = this.#options;
    return describeSite(git, site, { name, exclude, ...(signal && { signal }) });
  }

  async #open(ref: SandboxRef): Promise<OpenSite> {
    return openSite(await openPlace(this.#host, ref), ref);
  }

  /** As `#open`, for work in the worktree. */
  async #live(ref: SandboxRef): Promise<OpenSite> {
    const site = await this.#open(ref);
    requireWorktree(site);
    return site;
  }

  #fill<T>(
    git: Git,
    place: SandboxPlace,
    repository: Repository,
    work: () => Promise<T>,
  ): Promise<T> {
    const destroy = (): Promise<readonly string[]> =>
      removeWorktree(git, siteOf(place, repository));
    return fillPlace({ destroy }, place, work);
  }

  async #destroy(git: Git, place: SandboxPlace, repository: Repository): Promise<void> {
    const remaining = await removeWorktree(git, siteOf(place, repository));
    if (remaining.length > 0) {
      throw new SandboxCleanupError("Some files of the sandbox could not be removed", {
        operation: "cleanup",
        hint: "Remove what blocks them (such as an immutable flag), then call cleanup again.",
        data: { remaining },
      });
    }
    removePlace(place);
  }
}

/** Whoever removes it with git takes what the repository knows of it along. */
function requireWorktree(site: OpenSite): void {
  const { worktree, admin } = site;
  if (existsSync(worktree)) requireRepository(site);
  if (!existsSync(worktree) || !existsSync(admin)) throw worktreeGone(worktree);
}

function requireRepository({ worktree, repository }: OpenSite): void {
  const { commonDirectory } = repository;
  if (!existsSync(commonDirectory)) throw repositoryGone(commonDirectory, worktree);
}

function recordOf(tx: TransactionPart): GitRecord {
  return tx.record as unknown as GitRecord;
}

function emptyDiff({ place }: OpenSite): DiffView {
  return createDiffView({
    sandboxId: place.ref.sandboxId,
    base: place.ref.baseFingerprintId,
    changes: [],
    readBefore: () => Promise.resolve(null),
    readAfter: () => Promise.resolve(null),
  });
}
