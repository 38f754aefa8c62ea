import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
} from "node:fs";
import { realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const FILES = {
  "README.md": "# Shop\n\nSells apples.\n",
  "prices/apples.txt": "apples 3\n",
  "prices/pears.txt": "pears 4\n",
  "notes/todo.txt": "raise the prices\n",
};

/** A directory to play with, and beside it a place for the state; gone when disposed of. */
export class DemoFolder implements Disposable {
  readonly #root: string;
  /** The real directory. */
  readonly shop: string;
  readonly stateDirectory: string;

  constructor() {
    this.#root = mkdtempSync(join(realpathSync(tmpdir()), "coffer-demo-"));
    this.shop = join(this.#root, "shop");
    this.stateDirectory = join(this.#root, "state");
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(this.shop, name)), { recursive: true });
      writeFileSync(join(this.shop, name), text);
    }
    symlinkSync("prices/apples.txt", join(this.shop, "latest"));
  }

  /** The names of the files, for people. */
  names(): string[] {
    return this.#entries().filter((path) => !lstatSync(join(this.shop, path)).isDirectory());
  }

  /** Everything about every entry that a user could notice: type, mode, owner, times, content. */
  fingerprint(): string {
    const lines = ["", ...this.#entries()].map((path) => {
      const full = join(this.shop, path);
      const { mode, uid, gid, mtimeNs } = lstatSync(full, { bigint: true });
      return [path, mode, uid, gid, mtimeNs, contentOf(full)].join(" ");
    });
    return createHash("sha256").update(lines.join("\n")).digest("hex");
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  #entries(): string[] {
    return readdirSync(this.shop, { recursive: true, encoding: "utf8" }).toSorted();
  }
}

function contentOf(path: string): string {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return readlinkSync(path);
  return found.isFile() ? readFileSync(path).toString("hex") : "";
}
