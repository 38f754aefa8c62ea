import { openCofferdam } from "../../../../../src/index.ts";

/** Commits the one sandbox of a plan by itself, or takes its commit back. */
const [stateDirectory = "", config = "", call = ""] = process.argv.slice(2);
const cofferdam = await openCofferdam({ stateDirectory, config });
const [found] = await cofferdam.list();
if (found === undefined) throw new Error("there is no sandbox");
const sandbox = cofferdam.sandbox(found.ref);
await (call === "undo" ? sandbox.undoCommit() : sandbox.commit());
await cofferdam.close();
