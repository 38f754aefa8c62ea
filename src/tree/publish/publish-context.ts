import { RecordDamagedError } from "../../errors/index.ts";
import { type BytePath, nameOf, parentOf } from "../../model/byte-path.ts";
import {
  NativeError,
  OPEN,
  StatBuffer,
  close,
  mkdirAt,
  openAt,
  statFd,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { Custody } from "./custody.ts";
import { lookAt } from "./entry-record.ts";
import { type Place, moveEntry } from "./move-entry.ts";
import { type OpenRoot, type OpenStage, openRoot, openStage } from "./open-place.ts";
import { readRecord } from "./record-file.ts";
import { slotFolders } from "./slot.ts";
import type { PublishPlace, Step, StepList, TouchedFolder } from "./step.ts";
import { unpackSteps } from "./step-codec.ts";

const ESTALE = 116;
const FOLDER = OPEN.readOnly | OPEN.directory | OPEN.noFollow;
/** Where old entries wait on file systems that cannot exchange two names. */
const KEPT = "kept";

/**
 * `exchange`: old and new change places in one step. `link`: where the file system cannot do that, the old entry is
 * linked aside before the new one is renamed over it.
 */
export type PublishMode = "exchange" | "link";

/** Everything that is open while steps are verified, applied, reversed or checked. Whoever opens it disposes of it. */
export class PublishContext implements Disposable {
  readonly root: OpenRoot;
  readonly stage: OpenStage;
  readonly list: StepList;
  /** Whether edits of others stay in place; see `PublishPlace`. */
  readonly leavesForeign: boolean;
  /** What was looked at last at a step's path, and at its place in the stage. */
  readonly now = new StatBuffer();
  readonly slot = new StatBuffer();
  /** Which real files only we have touched. */
  readonly custody = new Custody();
  readonly #probe = new StatBuffer();
  readonly #seen = new Set<number>();
  #keptFd: number | null;

  constructor(root: OpenRoot, stage: OpenStage, list: StepList, leavesForeign: boolean) {
    this.root = root;
    this.stage = stage;
    this.list = list;
    this.leavesForeign = leavesForeign;
    this.#keptFd = openIfThere(stage.fd);
  }

  get mode(): PublishMode {
    return this.#keptFd === null ? "exchange" : "link";
  }

  /** From now on old entries are linked aside; recorded by the folder that they go to. */
  useLinks(): void {
    if (this.#keptFd !== null) return;
    mkdirAt(this.stage.fd, KEPT, 0o700);
    this.#keptFd = openAt(this.stage.fd, KEPT, FOLDER);
  }

  /** The place of a step in the real tree. */
  placeOf(step: Step): Place {
    return { fd: this.folderFd(step.folder), name: nameOf(step.path) };
  }

  /** The place of a step's new entry before it is published. */
  slotOf(step: Step): Place {
    return { fd: this.stage.entries.open(parentOf(step.slot)), name: nameOf(step.slot) };
  }

  /** The place of a step's old entry after the step. */
  keptOf(step: Step): Place {
    const { staged } = step;
    const own = this.slotOf(step);
    const { name } = own;
    if (this.#keptFd === null || staged === null || lookAt(this.#probe, this.#keptFd, name)) {
      return staged === null ? own : { fd: this.#keptFd ?? own.fd, name };
    }
    // It was exchanged when that still worked.
    const isExchanged = lookAt(this.#probe, own.fd, name) && this.#probe.ino !== staged.ino;
    return isExchanged ? own : { fd: this.#keptFd, name };
  }

  /** Where an entry goes for which the old one is put back; null when both simply change places. */
  asideOf(step: Step): Place | null {
    if (this.#keptFd === null) return null;
    return step.staged === null ? { fd: this.#keptFd, name: nameOf(step.slot) } : this.slotOf(step);
  }

  /** Takes an old entry from the place of the staged one, which is wanted back there. Gives its new place. */
  freeSlot(step: Step): Place {
    const own = this.slotOf(step);
    if (this.#keptFd === null || step.staged === null) return own;
    // Repeated when it was cut short; the staged entry itself stays.
    const isOther = lookAt(this.#probe, own.fd, own.name) && this.#probe.ino !== step.staged.ino;
    if (isOther) moveEntry(own.fd, own.name, this.#keptFd, own.name);
    return { fd: this.#keptFd, name: own.name };
  }

  /** Every place in the stage that may hold something of a step, with its absolute path. */
  leftovers(step: Step): (Place & { readonly at: BytePath })[] {
    const { fd, name } = this.slotOf(step);
    const places = [{ fd, name, at: this.stage.placeOf(step.slot) }];
    if (this.#keptFd !== null) {
      places.push({ fd: this.#keptFd, name, at: this.#keptPlace(name) });
    }
    return places;
  }

  /** Absolute path of a step's old entry, for reports. */
  keptPath(step: Step): BytePath {
    const { fd, name } = this.keptOf(step);
    return fd === this.#keptFd ? this.#keptPlace(name) : this.stage.placeOf(step.slot);
  }

  /** Descriptors of the folders in the stage whose names change. */
  stageFds(): number[] {
    const own = slotFolders(this.list.steps.length).map((path) => this.stage.entries.open(path));
    return this.#keptFd === null ? own : [...own, this.#keptFd];
  }

  /**
   * The descriptor of a touched folder.
   * @throws NativeError ESTALE when another directory is at its path, ENOENT, ENOTDIR or ELOOP when none is.
   */
  folderFd(position: number): number {
    const folder = this.folderAt(position);
    const fd = this.root.folders.open(folder.path);
    if (!this.#seen.has(position)) {
      if (statFd(fd).ino !== folder.ino) throw new NativeError(ESTALE, "open", folder.path);
      this.#seen.add(position);
    }
    return fd;
  }

  /** The same, but null when somebody removed or replaced the folder. */
  reachFolder(position: number): number | null {
    try {
      return this.folderFd(position);
    } catch (error) {
      throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "ESTALE", "EXDEV");
      return null;
    }
  }

  folderAt(position: number): TouchedFolder {
    const folder = this.list.folders[position];
    if (folder === undefined) throw damagedSteps();
    return folder;
  }

  #keptPlace(name: string): BytePath {
    return `${this.stage.path}/${KEPT}/${name}` as BytePath;
  }

  [Symbol.dispose](): void {
    if (this.#keptFd !== null) close(this.#keptFd);
    this.stage[Symbol.dispose]();
    this.root[Symbol.dispose]();
  }
}

/**
 * Opens a staged transaction.
 * @throws RecordDamagedError (`RECORD_DAMAGED`) when its steps are missing or cannot be trusted.
 */
export function openContext(place: PublishPlace): PublishContext {
  const stage = openStage(place);
  try {
    const packed = readRecord(stage.fd, "steps");
    if (packed === null) throw damagedSteps();
    const list = unpackSteps(packed);
    const root = openRoot(place.root, list.only);
    return new PublishContext(root, stage, list, place.leavesForeign === true);
  } catch (error) {
    stage[Symbol.dispose]();
    throw error;
  }
}

function openIfThere(stageFd: number): number | null {
  try {
    return openAt(stageFd, KEPT, FOLDER);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return null;
  }
}

function damagedSteps(): RecordDamagedError {
  return new RecordDamagedError("the steps of a transaction are missing or damaged", {
    data: { file: "steps", reason: "malformed" },
  });
}
