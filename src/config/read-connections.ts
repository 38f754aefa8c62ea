import { resolve } from "node:path";
import type { ConnectionSetting } from "./config.ts";
import type { ConfigReader } from "./config-reader.ts";
import { refuseTilde } from "./refuse-tilde.ts";

const EXPECTED = "a URL such as postgres://user@host:5432/database or sqlite:./file.db";
/** A database that is a file; its path may be relative, as other paths of the configuration. */
const FILE = /^(sqlite:)(?:\/\/(?=\/))?([^?#]*)(.*)$/i;

/** `connections`: how databases are reached, by the names that resources use. */
export function readConnections(
  reader: ConfigReader,
  directory: string,
): ReadonlyMap<string, ConnectionSetting> {
  const settings = new Map<string, ConnectionSetting>();
  for (const [name, entry] of reader.named()) {
    const keys = entry.section("url", "password_file", "answer_seconds");
    if (!keys.url.isPresent) keys.url.refuse("nothing", EXPECTED);
    const url = keys.url.text(EXPECTED);
    const file = keys.password_file.text("the path of a file", refuseTilde);
    const seconds = keys.answer_seconds.amount({ whole: false });
    if (seconds === 0) keys.answer_seconds.refuse("0", "a number above 0");
    if (url === undefined) continue;
    // What was found is not told: it may be a password.
    if (!URL.canParse(url)) keys.url.refuse("something else", EXPECTED);
    const [, scheme = "", path = "", rest = ""] = FILE.exec(url) ?? [];
    const problem = refuseTilde(path);
    if (problem !== null) keys.url.refuse(url, problem);
    const whole = scheme === "" ? url : `${scheme}${wholePath(path, directory)}${rest}`;
    const passwordFile = file === undefined ? null : resolve(directory, file);
    settings.set(name, {
      url: whole,
      passwordFile,
      ...(seconds !== undefined && { answerMs: seconds * 1000 }),
    });
  }
  return settings;
}

function wholePath(path: string, directory: string): string {
  const parts = directory.split("/").map(encodeURIComponent);
  return resolve(parts.join("/"), path);
}
