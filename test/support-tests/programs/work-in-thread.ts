import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker, isMainThread, workerData } from "node:worker_threads";
import { waitForGo } from "../../support/go.ts";

if (isMainThread) {
  const folder = process.argv[2] ?? "";
  waitForGo();
  symlinkSync("thread", join(folder, "main"));
  new Worker(fileURLToPath(import.meta.url), { workerData: folder });
} else {
  const folder = workerData as string;
  mkdirSync(join(folder, "thread"));
  writeFileSync(join(folder, "thread/draft"), "text");
  renameSync(join(folder, "thread/draft"), join(folder, "thread/final"));
}
