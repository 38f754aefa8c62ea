import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { workerUrl } from "../platform/worker-url.ts";
import type { ShownSandbox } from "./shown-sandbox.ts";

/** The program of the step `link`. */
const SHOW_LINK = fileURLToPath(workerUrl("./show-link.ts", import.meta.url));

/** Private copies, and the links that lead to them from the places of the real files. */
export class Copies {
  readonly #copies: readonly {
    readonly location: string;
    readonly folder: string;
    /** Where the command sees the folder. */
    readonly at: string;
    readonly name: string;
    readonly link: string;
  }[];

  /** `run` is the folder of the run; `shownIn` is where the folders of the copies are shown; null where they can be seen at their own places. */
  constructor(sandboxes: readonly ShownSandbox[], run: string, shownIn: string | null) {
    this.#copies = sandboxes.flatMap((sandbox, index) => {
      if (!("copy" in sandbox)) return [];
      const { location, copy } = sandbox;
      const folder = dirname(copy);
      const at = shownIn === null ? folder : join(shownIn, `copy-${index}`);
      const link = join(run, `copy-${index}.link`);
      return [{ location, folder, at, name: basename(copy), link }];
    });
  }

  /** Whether there are any, which then need a place. */
  get areThere(): boolean {
    return this.#copies.length > 0;
  }

  /** Steps that show them, after everything around them. */
  show(within: (path: string) => string): string[][] {
    return this.#copies.flatMap(({ location, folder, at, link }) => [
      ...(at === folder ? [] : bindAt(folder, within(at))),
      ["link", process.execPath, SHOW_LINK, link, within(location), location],
    ]);
  }

  /** The links to make first, with what they lead to. */
  links(): Map<string, string> {
    return new Map(this.#copies.map(({ link, at, name }) => [link, join(at, name)]));
  }
}

/** Steps that show a folder at a place which is not there yet. */
export function bindAt(folder: string, target: string): string[][] {
  return [
    ["folder", target],
    ["bind", folder, target],
  ];
}
