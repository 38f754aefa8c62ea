import { randomBytes } from "node:crypto";
import type { Clock, IdSource } from "../contract/host.ts";
import { systemClock } from "./clock.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;
const ID_PATTERN = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/**
 * New ids of 26 characters in the layout of a ULID, in lower case: 48 bits of time, then 80 random bits, so that ids
 * sort by the millisecond they were made in and nobody can guess them.
 */
export function createIdSource(clock: Clock = systemClock): IdSource {
  return { next: () => encodeTime(clock.now().getTime()) + encodeRandom() };
}

/** Whether the text has the form of an id from `createIdSource`. */
export function isId(text: string): boolean {
  return ID_PATTERN.test(text);
}

/** When the id was made, in milliseconds since 1970. */
export function idTime(id: string): number {
  return [...id.slice(0, TIME_CHARACTERS)].reduce(
    (time, digit) => time * 32 + ALPHABET.indexOf(digit),
    0,
  );
}

function encodeTime(time: number): string {
  let text = "";
  for (let rest = time; text.length < TIME_CHARACTERS; rest = Math.floor(rest / 32)) {
    text = ALPHABET.charAt(rest % 32) + text;
  }
  return text;
}

function encodeRandom(): string {
  return Array.from(randomBytes(RANDOM_CHARACTERS), (byte) => ALPHABET.charAt(byte % 32)).join("");
}
