import type { ErrorJson } from "../index.ts";

/** Some resources of a plan could not be worked on; told by the error of the first, with those of all. */
export class PartialFailure extends Error {
  readonly errors: Readonly<Record<string, ErrorJson>>;

  constructor(errors: Readonly<Record<string, ErrorJson>>) {
    super(toldOf(errors).join("\n"));
    this.name = "PartialFailure";
    this.errors = errors;
  }

  /** The first error, with the message of all. */
  toJSON(): ErrorJson {
    const [first] = Object.values(this.errors);
    return { ...first!, message: this.message };
  }
}

/** A line for each error; the one that stands in the way of all is told once, for its own resource. */
function toldOf(errors: Readonly<Record<string, ErrorJson>>): string[] {
  const [[, first] = [], ...others] = Object.entries(errors);
  const culprit = first?.resourceId ?? null;
  const isShared =
    others.length > 0 && others.every(([, { message }]) => message === first?.message);
  if (isShared && culprit !== null) {
    const rest = Object.keys(errors).filter((id) => id !== culprit);
    return [`${culprit}: ${first?.message}`, `with it nothing happened to ${rest.join(", ")}`];
  }
  return Object.entries(errors).map(([id, { message }]) => `${id}: ${message}`);
}

/** Throws when a report tells of failures. */
export function refuseFailures({
  failed,
}: {
  readonly failed: Readonly<Record<string, ErrorJson>>;
}): void {
  if (Object.keys(failed).length > 0) throw new PartialFailure(failed);
}
