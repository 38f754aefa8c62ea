import { saveContent, saveStates } from "../../../../src/tree/toolkit/saved-states.ts";
import { readTreeState } from "../../../../src/tree/toolkit/tree-state.ts";

const [folder = "", draft = ""] = process.argv.slice(2);
await saveContent(folder, "content\n");
const base = await readTreeState(draft);
await saveStates(`${folder}/states`, { base, draft: base });
