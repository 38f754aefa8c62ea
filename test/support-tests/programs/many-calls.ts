import * as fs from "node:fs";
import { join } from "node:path";

const folder = process.argv[2] ?? "";
const at = (name: string): string => join(folder, name);

fs.mkdirSync(at("folder"));
fs.writeFileSync(at("file"), "text");
fs.linkSync(at("file"), at("second"));
fs.symlinkSync("file", at("link"));
fs.chmodSync(at("file"), 0o600);
fs.utimesSync(at("file"), 1, 2);
fs.lutimesSync(at("link"), 1, 2);
fs.truncateSync(at("file"), 2);
fs.chownSync(at("file"), process.getuid?.() ?? 0, process.getgid?.() ?? 0);
fs.copyFileSync(at("file"), at("copy"), fs.constants.COPYFILE_FICLONE);
const descriptor = fs.openSync(at("copy"), "r+");
fs.writeSync(descriptor, "x", 1);
fs.ftruncateSync(descriptor, 1);
fs.fchmodSync(descriptor, 0o640);
fs.fdatasyncSync(descriptor);
fs.fsyncSync(descriptor);
fs.closeSync(descriptor);
fs.renameSync(at("copy"), at("moved"));
fs.unlinkSync(at("moved"));
fs.rmdirSync(at("folder"));
fs.readFileSync(at("file"));
fs.writeFileSync("/dev/null", "elsewhere");
