const BUSY = 5;
const LOCKED = 6;
const CONSTRAINT = 19;
const UNIQUE = [1555, 2067, 2579];

/** SQLite's own extended code of an error; null when it is not SQLite's. */
export function codeOf(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !("errcode" in thrown)) return null;
  return typeof thrown.errcode === "number" ? thrown.errcode : null;
}

/** Errors of the machine, which say nothing about a file: no memory, no access, a failing or full disk, no such file. */
const OF_THE_MACHINE = [3, 7, 10, 13, 14];

/** Whether SQLite complains about what is in a file, or about what it was asked to do with it. */
export function isDamage(thrown: unknown): boolean {
  const code = primaryOf(thrown);
  return code !== null && !isLocked(thrown) && !OF_THE_MACHINE.includes(code);
}

/** Whether somebody else holds a lock. */
export function isLocked(thrown: unknown): boolean {
  const code = primaryOf(thrown);
  return code === BUSY || code === LOCKED;
}

/** Whether a constraint is violated. */
export function isViolation(thrown: unknown): boolean {
  return primaryOf(thrown) === CONSTRAINT;
}

/** Whether there is such a row already. */
export function isTaken(thrown: unknown): boolean {
  return UNIQUE.includes(codeOf(thrown) ?? 0);
}

function primaryOf(thrown: unknown): number | null {
  const code = codeOf(thrown);
  return code === null ? null : code & 0xff;
}
