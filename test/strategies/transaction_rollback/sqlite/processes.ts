import { readFileSync, readdirSync, readlinkSync } from "node:fs";

/** The processes for SQLite that this one has, by their ids. */
export function sqliteProcesses(): number[] {
  const threads = readdirSync("/proc/self/task");
  const children = threads.flatMap((thread) =>
    textOf(`/proc/self/task/${thread}/children`).trim().split(" ").filter(Boolean).map(Number),
  );
  return children.filter((pid) => textOf(`/proc/${pid}/cmdline`).includes("sqlite/worker"));
}

/** Whether a process is there that has not ended. */
export function isAlive(pid: number): boolean {
  return textOf(`/proc/${pid}/cmdline`) !== "";
}

/** The files that a process has open below a folder. */
export function openFiles(pid: number, folder: string): string[] {
  const descriptors = readdirSync(`/proc/${pid}/fd`);
  const targets = descriptors.map((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
    } catch {
      // Closed meanwhile.
      return "";
    }
  });
  return targets.filter((target) => target.startsWith(`${folder}/`));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The thread or the process is gone.
    return "";
  }
}
