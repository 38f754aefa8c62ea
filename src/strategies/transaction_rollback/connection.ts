import { readFileSync } from "node:fs";
import type { ConnectionSetting } from "../../contract/host.ts";
import { DatabaseError, describeThrown } from "../../errors/index.ts";

const ANSWER_MS = 60_000;

/** A configured connection. It never shows what it holds: neither printed nor as JSON. */
export class Connection {
  readonly name: string;
  readonly #setting: ConnectionSetting;

  constructor(name: string, setting: ConnectionSetting) {
    this.name = name;
    this.#setting = setting;
  }

  /** The scheme of the URL. */
  get scheme(): string {
    return /^([a-z][a-z0-9+.-]*):/i.exec(this.#setting.url)?.[1]?.toLowerCase() ?? "";
  }

  /** How long a server may be silent over what is quick. */
  get answerMs(): number {
    return this.#setting.answerMs ?? ANSWER_MS;
  }

  /**
   * The URL with the password of the file, which is read anew each time.
   * @throws DatabaseError (`DATABASE`, reason `unreachable`) when the file cannot be read.
   */
  address(): string {
    const { url, passwordFile } = this.#setting;
    if (passwordFile === null) return url;
    const whole = new URL(url);
    whole.password = encodeURIComponent(this.#read(passwordFile).split(/\r?\n/, 1)[0] ?? "");
    return whole.href;
  }

  #read(passwordFile: string): string {
    try {
      return readFileSync(passwordFile, "utf8");
    } catch (cause) {
      const what = `The password_file of the connection ${this.name} cannot be read`;
      throw new DatabaseError(`${what}: ${describeThrown(cause)}`, {
        data: { reason: "unreachable", position: null, command: null, sqlState: null },
        hint: "Put the password there, or name another file in the configuration.",
        cause,
      });
    }
  }
}
