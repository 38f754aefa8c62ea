import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker, isMainThread, workerData } from "node:worker_threads";

if (isMainThread) {
  const folder = process.argv[2] ?? "";
  mkdirSync(join(folder, "main"));
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: folder });
  worker.once("exit", () => execFileSync("mkdir", ["child"], { cwd: folder }));
} else {
  const folder = workerData as string;
  mkdirSync(join(folder, "thread"));
  writeFileSync(join(folder, "thread/draft"), "text");
  renameSync(join(folder, "thread/draft"), join(folder, "thread/final"));
}
