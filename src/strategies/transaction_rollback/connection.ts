import { readFileSync } from "node:fs";

/** How a configured connection is handed to the strategy. */
export interface ConnectionSetting {
  /** Its scheme says which kind of server it is. */
  readonly url: string;
  /** A file whose first line is the password; null when the URL, or the server's own rules, will do. */
  readonly passwordFile: string | null;
}

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
