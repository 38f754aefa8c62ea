import { type BytePath, type RelativePath, nameOf, parentOf } from "../../model/byte-path.ts";
import {
  OPEN,
  chmodAt,
  chownAt,
  close,
  linkAt,
  mkdirAt,
  openAt,
  removeXattrAt,
  symlinkAt,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { type CopyOptions, copyFileTo } from "../copy-entry.ts";
import {
  type AttributeLoss,
  attributesOf,
  setAttributes,
  setLinkAttributes,
  tryOwner,
} from "../entry-attributes.ts";
import type { TreeEntry } from "../tree-entry.ts";
import { moveEntry } from "./move-entry.ts";
import type { MovedSource } from "./moved-sources.ts";
import type { OpenStage } from "./open-place.ts";
import type { FilePlan } from "./plan-files.ts";
import type { SourceFolders } from "./source-folders.ts";

const FOLDER = OPEN.readOnly | OPEN.directory | OPEN.noFollow;

/** Something about a published entry that could not be kept. */
export interface StagedLoss extends AttributeLoss {
  readonly path: RelativePath;
}

/** A directory or link that is made in the stage. */
export interface NewEntry {
  readonly path: RelativePath;
  readonly staged: RelativePath;
  readonly after: TreeEntry;
}

/** Puts complete entries with their final mode, owner, attributes and times into the stage. */
export class EntryStager {
  readonly #stage: OpenStage;
  readonly #sources: SourceFolders;
  readonly #reflink: CopyOptions["reflink"];
  readonly losses: StagedLoss[] = [];

  constructor(stage: OpenStage, sources: SourceFolders, reflink: CopyOptions["reflink"]) {
    this.#stage = stage;
    this.#sources = sources;
    this.#reflink = reflink;
  }

  /** Makes a directory that only we can use until `finishFolder`, or a link. */
  make({ path, staged, after }: NewEntry): void {
    const [fd, name] = this.#place(staged);
    if (after.type === "directory") {
      mkdirAt(fd, name, 0o700);
      return;
    }
    symlinkAt(after.target!, fd, name);
    this.#note(path, setLinkAttributes(fd, name, attributesOf(after)));
  }

  /** Gives a staged directory what it is to have, after everything in it is there. */
  finishFolder({ path, staged, after }: NewEntry): void {
    const [parentFd, name] = this.#place(staged);
    const fd = openAt(parentFd, name, FOLDER);
    try {
      this.#note(path, setAttributes(fd, attributesOf(after)));
    } finally {
      close(fd);
    }
  }

  /** Moves, copies or links a file into the stage. */
  file(plan: FilePlan): void {
    const [fd, name] = this.#place(plan.staged);
    if (plan.how.by === "move" && this.#move(plan, plan.how.moved, fd, name)) return;
    if (plan.how.by === "link") {
      const [ofFd, ofName] = this.#place(plan.how.of);
      linkAt(ofFd, ofName, fd, name);
    } else if (plan.how.by !== "realLink") {
      const { lost } = copyFileTo(this.#sources.open(plan.source), nameOf(plan.source), fd, name, {
        reflink: this.#reflink,
        attributes: attributesOf(plan.after),
        specialBits: true,
      });
      this.#note(plan.change.path, lost);
    }
  }

  /** False when the source cannot be renamed: it lies on another mount, or in a folder closed to its owner. */
  #move(plan: FilePlan, moved: MovedSource, fd: number, name: string): boolean {
    try {
      moveEntry(this.#sources.open(plan.source), nameOf(plan.source), fd, name);
    } catch (error) {
      throwUnlessErrno(error, "EXDEV", "EACCES");
      return false;
    }
    const { attributes, marks } = moved;
    if (attributes !== null && marks !== null) chmodAt(fd, name, attributes.mode | 0o200);
    for (const mark of Object.keys(marks ?? {})) removeXattrAt(fd, name, mark);
    if (attributes !== null) this.#correct(plan, fd, name);
    return true;
  }

  #correct({ change, after }: FilePlan, fd: number, name: string): void {
    const owner = tryOwner((uid) => chownAt(fd, name, uid, after.gid), after.uid);
    chmodAt(fd, name, after.mode);
    this.#note(change.path, { owner, xattrs: [] });
  }

  #place(staged: RelativePath): readonly [fd: number, name: BytePath] {
    return [this.#stage.entries.open(parentOf(staged)), nameOf(staged)];
  }

  #note(path: RelativePath, loss: AttributeLoss): void {
    if (loss.owner || loss.xattrs.length > 0) this.losses.push({ path, ...loss });
  }
}
