import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";

/** Swaps a folder and a link to an outside folder for each other, over and over, until it is killed. */
const [root = "", outside = ""] = process.argv.slice(2);
const contested = join(root, "contested");
const [aside, link] = [join(root, "aside"), join(root, "link")];
symlinkSync(outside, link);
for (;;) {
  renameSync(contested, aside);
  renameSync(link, contested);
  renameSync(contested, link);
  renameSync(aside, contested);
}
