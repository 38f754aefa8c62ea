import {
  type BytePath,
  type RelativePath,
  isWithin,
  nameOf,
  parentOf,
} from "../../model/byte-path.ts";
import {
  NativeError,
  StatBuffer,
  close,
  fsync,
  statFd,
  syncfs,
} from "../../platform/native/index.ts";
import type { TreeChange } from "../tree-change.ts";
import { type EntryRecord, recordOf, recordOfEntry } from "./entry-record.ts";
import { sourceTimes, writeMovePlan } from "./moved-sources.ts";
import { type OpenRoot, type OpenStage, makeStage, openParent, openRoot } from "./open-place.ts";
import { orderSteps } from "./order-steps.ts";
import { type FilePlan, planFiles, stagedPlace } from "./plan-files.ts";
import { type StepDraft, type StepPlan, planSteps } from "./plan-steps.ts";
import { writeRecord } from "./record-file.ts";
import { requireSpace } from "./require-space.ts";
import { makeSlotFolders, slotName, slotOfPlace } from "./slot.ts";
import { SourceFolders } from "./source-folders.ts";
import { EntryStager, type NewEntry } from "./stage-entries.ts";
import type { StageRequest, StageSummary } from "./stage-request.ts";
import type { RecordedEntry, StagedLink, Step } from "./step.ts";
import { packSteps } from "./step-codec.ts";
import { TouchedFolders } from "./touched-folders.ts";
import { walkBelow } from "./walk-below.ts";

const EXDEV = 18;
const NO_LINKS: readonly StagedLink[] = [];
const NO_ENTRIES: readonly RecordedEntry[] = [];

/** One run of staging; remembers how far it came. */
export class Staging {
  readonly #request: StageRequest;
  /** The path that is being worked on. */
  current: RelativePath | null = null;
  /** Whether the stage exists. */
  isMade = false;

  constructor(request: StageRequest) {
    this.#request = request;
  }

  run(): StageSummary {
    const { changes, root: rootPath, only, sourceRoots, reflink } = this.#request;
    const plan = planSteps(changes, { root: rootPath, only, exclude: this.#excluded() });
    using root = openRoot(rootPath, only);
    using sources = new SourceFolders(sourceRoots);
    const touched = this.#touched(plan, root);
    const { made, wanted } = sortStaged(plan);
    const files = planFiles(this.#noting(wanted), sources, root);
    this.#requireRoom(files, made.length, root);
    using stage = makeStage(this.#request, () => {
      this.isMade = true;
    });
    makeSlotFolders(stage.entriesFd, plan.drafts.length);
    const stager = new EntryStager(stage, sources, reflink ?? "auto");
    this.#fill(stager, stage, made, files, sources);
    const list = {
      root: { ino: statFd(root.fd).ino },
      only,
      folders: touched.folders,
      steps: orderSteps(this.#steps(plan.drafts, touched, stage, linksBySlot(files, made))),
    };
    const stepsChecksum = writeRecord(stage.fd, "steps", packSteps(list), "later");
    syncfs(stage.fd);
    const bytes = files.reduce((sum, file) => sum + file.after.size, 0);
    return { count: list.steps.length, bytes, stepsChecksum, losses: stager.losses };
  }

  /** What must not be touched; the stage itself, should it lie below the root, included. */
  #excluded(): RelativePath[] {
    const { root, stage, exclude } = this.#request;
    const own = isWithin(stage, root) ? [stage.slice(root.length + 1) as RelativePath] : [];
    return [...(exclude ?? []), ...own];
  }

  #touched(plan: StepPlan, root: OpenRoot): TouchedFolders {
    const touched = new TouchedFolders(root, plan.folders);
    for (const path of this.#each(plan.drafts.map((draft) => draft.path))) {
      touched.positionOf(parentOf(path));
    }
    for (const path of this.#each([...plan.folders.keys()])) touched.positionOf(path);
    return touched;
  }

  #requireRoom(files: readonly FilePlan[], made: number, root: OpenRoot): void {
    const { stage, changes, reflink } = this.#request;
    const { fd } = openParent(stage);
    try {
      if (statFd(fd).dev !== statFd(root.fd).dev) throw new NativeError(EXDEV, "stage", stage);
      const copies = files.filter(({ how }) => how.by === "copy").map(({ after }) => after.size);
      requireSpace(fd, stage, { copies, made, changes: changes.length }, reflink ?? "auto");
    } finally {
      close(fd);
    }
  }

  #fill(
    stager: EntryStager,
    stage: OpenStage,
    made: readonly NewEntry[],
    files: readonly FilePlan[],
    sources: SourceFolders,
  ): void {
    const moves = files.flatMap(({ how }) => (how.by === "move" ? [how.moved] : []));
    if (moves.length > 0) {
      const times = sourceTimes(moves, sources);
      writeMovePlan(stage.fd, { roots: this.#request.sourceRoots, moves, times });
      syncParent(stage.path);
    }
    for (const entry of this.#noting(made)) stager.make(entry);
    // Links to staged files need those files first.
    const isLink = ({ how }: FilePlan): boolean => how.by === "link";
    for (const file of [...files.filter((f) => !isLink(f)), ...files.filter(isLink)]) {
      this.current = file.change.path;
      stager.file(file);
    }
    const folders = made.filter(({ after }) => after.type === "directory");
    for (const folder of this.#noting(folders.reverse())) stager.finishFolder(folder);
    this.current = null;
  }

  #steps(
    drafts: readonly StepDraft[],
    touched: TouchedFolders,
    stage: OpenStage,
    links: ReadonlyMap<RelativePath, readonly StagedLink[]>,
  ): Step[] {
    const stat = new StatBuffer();
    return drafts.map(({ path, change: { before, after }, below }, index): Step => {
      const slot = slotName(index);
      const own = links.get(slot) ?? NO_LINKS;
      return {
        op: before === null ? "create" : after === null ? "remove" : "replace",
        path,
        folder: touched.positionOf(parentOf(path)),
        slot,
        staged: after === null ? null : stagedRecord(stage, slot, own, stat),
        old: before === null ? null : recordOfEntry(before),
        below: below.flatMap(({ path: place, before: old }) =>
          old === null ? [] : [[place, recordOfEntry(old)] as const],
        ),
        inside: after?.type === "directory" ? insideOf(stage, slot, path, own) : NO_ENTRIES,
        links: own,
      };
    });
  }

  *#noting<T extends { readonly path: RelativePath }>(items: readonly T[]): Generator<T> {
    for (const item of items) {
      this.current = item.path;
      yield item;
    }
    this.current = null;
  }

  *#each(paths: readonly RelativePath[]): Generator<RelativePath> {
    for (const path of paths) {
      this.current = path;
      yield path;
    }
    this.current = null;
  }
}

/** The plan is worth nothing if the folder that holds it is not found after a power loss. */
function syncParent(path: BytePath): void {
  const { fd } = openParent(path);
  try {
    fsync(fd);
  } finally {
    close(fd);
  }
}

interface StagedParts {
  /** Directories, parents first, and links. */
  readonly made: NewEntry[];
  readonly wanted: {
    readonly path: RelativePath;
    readonly change: TreeChange;
    readonly staged: RelativePath;
  }[];
}

function sortStaged(plan: StepPlan): StagedParts {
  const parts: StagedParts = { made: [], wanted: [] };
  plan.drafts.forEach((draft, index) => {
    for (const change of draft.staged) {
      const { path, after } = change;
      const staged = stagedPlace(draft, slotName(index), path);
      if (after?.type === "file") parts.wanted.push({ path, change, staged });
      else if (after !== null) parts.made.push({ path, staged, after });
    }
  });
  return parts;
}

function linksBySlot(
  files: readonly FilePlan[],
  made: readonly NewEntry[],
): Map<RelativePath, StagedLink[]> {
  const folders = new Map(made.map(({ staged, after }) => [staged, after]));
  const links = new Map<RelativePath, StagedLink[]>();
  for (const { staged, how } of files) {
    if (how.by !== "realLink") continue;
    const slot = slotOfPlace(staged);
    const around = folders.get(parentOf(staged));
    const folder = around === undefined ? null : { mode: around.mode, mtimeNs: around.mtimeNs };
    const own = links.get(slot) ?? [];
    own.push({ staged, target: how.target, record: how.record, folder });
    links.set(slot, own);
  }
  return links;
}

/** What will be published: what lies in the stage, or the real file that gets a further name. */
function stagedRecord(
  stage: OpenStage,
  slot: RelativePath,
  links: readonly StagedLink[],
  stat: StatBuffer,
): EntryRecord {
  const link = links.find(({ staged }) => staged === slot);
  if (link !== undefined) return link.record;
  stat.readAt(stage.entries.open(parentOf(slot)), nameOf(slot));
  return recordOf(stat);
}

/** Everything in a staged directory, the links that are still to be made included. */
function insideOf(
  stage: OpenStage,
  slot: RelativePath,
  path: RelativePath,
  links: readonly StagedLink[],
): RecordedEntry[] {
  const found = links.map(({ staged, record }): RecordedEntry => {
    return [`${path}${staged.slice(slot.length)}` as RelativePath, record];
  });
  const folder = stage.entries.open(parentOf(slot));
  walkBelow(folder, nameOf(slot), path, (below, stat) => found.push([below, recordOf(stat)]));
  return found;
}
