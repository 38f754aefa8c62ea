import { OverlayWorkspace } from "../../../../src/strategies/overlay/workspace.ts";
import { at, makePlace } from "../sandbox.ts";

/* Does one thing to a sandbox that exists: the one to be disturbed. */

const [root = "", call = ""] = process.argv.slice(2);
const workspace = new OverlayWorkspace({ emit: () => undefined });
const place = makePlace(root);
switch (call) {
  case "write":
    await workspace.write(place, at("d/e/c"), Buffer.from("written\n"));
    break;
  case "remove":
    await workspace.remove(place, at("d"));
    break;
  case "rename":
    await workspace.rename(place, at("d"), at("n/renamed"));
    break;
  case "renameFile":
    await workspace.rename(place, at("d/b"), at("n/moved"));
    break;
  case "checkpoint":
    await workspace.checkpoint(place, "new");
    break;
  case "restore":
    await workspace.restore(place, "old");
    break;
  case "discard":
    await workspace.discard(place);
    break;
  case "quiesce":
    await workspace.quiesce(place, "commit");
    break;
  default:
    throw new Error(`no such call: ${call}`);
}
