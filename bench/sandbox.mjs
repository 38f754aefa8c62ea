import { openCofferdam } from "../dist/index.js";

let number = 0;

/** Opens the library on a state directory of its own, beside the trees, so that renames between them work. */
export function openBench(stateDirectory) {
  return openCofferdam({ stateDirectory, config: false });
}

/** A new sandbox of a directory, bound to its ref. */
export async function makeSandbox(coffer, location, strategy, properties) {
  const resource = {
    resourceId: `tree-${++number}`,
    type: "fs-directory",
    location,
    ...(properties !== undefined && { properties }),
  };
  return coffer.sandbox(await coffer.create(`bench-${number}`, resource, { strategy }));
}
