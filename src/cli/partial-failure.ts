import type { ErrorJson } from "../index.ts";

/** Some resources of a plan could not be worked on; told by the error of the first, with those of all. */
export class PartialFailure extends Error {
  readonly errors: Readonly<Record<string, ErrorJson>>;

  constructor(errors: Readonly<Record<string, ErrorJson>>) {
    super(
      Object.entries(errors)
        .map(([id, { message }]) => `${id}: ${message}`)
        .join("\n"),
    );
    this.name = "PartialFailure";
    this.errors = errors;
  }

  /** The first error, with the message of all. */
  toJSON(): ErrorJson {
    const [first] = Object.values(this.errors);
    return { ...first!, message: this.message };
  }
}

/** Throws when a report tells of failures. */
export function refuseFailures({
  failed,
}: {
  readonly failed: Readonly<Record<string, ErrorJson>>;
}): void {
  if (Object.keys(failed).length > 0) throw new PartialFailure(failed);
}
