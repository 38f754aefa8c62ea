import { linkPackage } from "../support/package-folder.ts";
import { type Home, makeHome } from "./coffer.ts";

/** Strategies that fail, or wait, at one step of a commit. */
const MODULE = `
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { FilesystemCopyStrategy } from "cofferdam";

const refuse = () => Promise.reject(new Error("made to fail"));

export class Unprepared extends FilesystemCopyStrategy {
  prepare() { return refuse(); }
}
export class Unfinished extends FilesystemCopyStrategy {
  commitPrepared() { return refuse(); }
  reversePrepared() { return refuse(); }
}
export class Killed extends FilesystemCopyStrategy {
  commitPrepared() { process.kill(process.pid, "SIGKILL"); return new Promise(() => {}); }
}
/** Gives programs no path, drops nothing, and does not look before an undo, nor at the digest that is expected. */
export class Bare extends FilesystemCopyStrategy {
  capabilities = { ...this.capabilities, path: false, drops: false };
  checkUndo = undefined;
  prepare(ref, tx, { expect, ...options } = {}) { return super.prepare(ref, tx, options); }
}
/** Cannot tell what changed either. */
export class Unseen extends FilesystemCopyStrategy {
  capabilities = { ...this.capabilities, path: false };
  diff() { return refuse(); }
}
export class Waiting extends FilesystemCopyStrategy {
  async prepare(...given) {
    writeFileSync(process.env.WAITING_AT, "");
    while (existsSync(process.env.WAITING_AT)) await setTimeout(10);
    return super.prepare(...given);
  }
}
`;

const NAMES = ["Unprepared", "Unfinished", "Killed", "Waiting", "Bare", "Unseen"] as const;

/** A home whose configuration knows strategies by the names of their classes in small letters. */
export function homeWithOddStrategies(files: Readonly<Record<string, string>>): Home {
  const lines = NAMES.map(
    (name) => `    ${name.toLowerCase()}: { module: ./odd.mjs, class: ${name} }`,
  );
  const home = makeHome({
    ...files,
    "odd.mjs": MODULE,
    "cofferdam.yaml": ["sandbox:", "  custom_strategies:", ...lines, ""].join("\n"),
  });
  linkPackage(home.project);
  return home;
}
