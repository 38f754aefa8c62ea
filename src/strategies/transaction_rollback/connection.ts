import { readFileSync } from "node:fs";
import type { ConnectionSetting } from "../../contract/host.ts";

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

  /** The URL with the password of the file, which is read anew each time. */
  address(): string {
    const { url, passwordFile } = this.#setting;
    if (passwordFile === null) return url;
    const whole = new URL(url);
    whole.password = encodeURIComponent(
      readFileSync(passwordFile, "utf8").split(/\r?\n/, 1)[0] ?? "",
    );
    return whole.href;
  }
}
