import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Cofferdam, type Sandbox, openCofferdam } from "cofferdam";
import { type Oracle, takeOracle } from "../../../test/support/oracle.ts";
import { CONFIG } from "./subject.ts";

/** Where the engine keeps what is its own, inside of a subvolume. */
export const AREA = `.cofferdam-${process.geteuid?.() ?? 0}`;

/** Runs a shell script in a folder. */
export function run(folder: string, script: string): string {
  return execFileSync("sh", ["-euc", `umask 022\n${script}`], { cwd: folder, encoding: "utf8" });
}

/** A tree as other programs see it, without what the engine keeps in it. */
export function stateOf(folder: string): Oracle {
  return takeOracle(folder, { exclude: [AREA] });
}

/** A subvolume with some files, and an installation beside it. */
export class Site {
  readonly folder: string;
  readonly root: string;
  readonly stateDirectory: string;

  constructor(below: string) {
    this.folder = mkdtempSync(join(below, "site-"));
    this.root = join(this.folder, "root");
    this.stateDirectory = join(this.folder, "state");
    execFileSync("btrfs", ["subvolume", "create", this.root], { stdio: "pipe" });
    mkdirSync(join(this.root, "docs/deep"), { recursive: true });
    writeFileSync(join(this.root, "docs/deep/page"), "old\n");
    writeFileSync(join(this.root, "readme"), "read me\n");
  }

  open(): Promise<Cofferdam> {
    return openCofferdam({ stateDirectory: this.stateDirectory, config: CONFIG });
  }

  /** A sandbox of the subvolume in a plan of its own. */
  async sandbox(cofferdam: Cofferdam, planId = "plan"): Promise<Sandbox> {
    const resource = { resourceId: "site", type: "fs-directory", location: this.root } as const;
    const ref = await cofferdam.create(planId, resource, { strategy: "btrfs_snapshot" });
    return cofferdam.sandbox(ref);
  }

  /** The paths of all subvolumes below the site, seen from the site. */
  subvolumes(): string[] {
    return run(this.folder, "find . -inum 256 | sort")
      .split("\n")
      .filter((line) => line !== "");
  }
}
