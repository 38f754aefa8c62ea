import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";

/** Mount points at or below a folder, the innermost last, as the kernel lists them. */
export function mountsBelow(folder: string): string[] {
  const points: string[] = [];
  for (const line of readFileSync("/proc/self/mountinfo", "latin1").split("\n")) {
    const escaped = line.split(" ")[4];
    if (escaped === undefined) continue;
    const point = unescapeMountPoint(escaped);
    if (isAtOrBelow(point, folder)) points.push(point);
  }
  return points;
}

/** Loop devices whose image file lies below a folder, also when the file is already deleted. */
export function loopDevicesBelow(folder: string): string[] {
  return readdirSync("/sys/block")
    .filter((name) => name.startsWith("loop"))
    .filter((name) => {
      const image = readIfThere(`/sys/block/${name}/loop/backing_file`);
      return image !== undefined && isAtOrBelow(image.trimEnd(), folder);
    })
    .map((name) => `/dev/${name}`);
}

/**
 * Processes that mention a folder in command line or environment, or stand in it. Direct children
 * of this process are not counted: in the global check those are the test runner's own workers.
 */
export function processesAround(folder: string): { pid: number; command: string }[] {
  const found: { pid: number; command: string }[] = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (pid === String(process.pid)) continue;
    const stat = readIfThere(`/proc/${pid}/stat`);
    // Fields are counted from behind the command name, which may itself hold spaces and brackets.
    const [state, parent] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
    if (state === undefined || state === "Z" || parent === String(process.pid)) continue;
    const command = readIfThere(`/proc/${pid}/cmdline`) ?? "";
    const surroundings = readIfThere(`/proc/${pid}/environ`) ?? "";
    const standsInside = isAtOrBelow(readLinkIfThere(`/proc/${pid}/cwd`) ?? "", folder);
    const isNamed = command.includes(folder) && !isOfAnotherRun(surroundings, folder);
    if (standsInside || isNamed || surroundings.includes(folder)) {
      found.push({ pid: Number(pid), command: command.replaceAll("\0", " ").trim() });
    }
  }
  return found;
}

/** A command in a view of its own names every mount of the machine, those of other runs of the tests too. */
function isOfAnotherRun(surroundings: string, folder: string): boolean {
  const runs = [...surroundings.matchAll(/=(\/[^\0:]*?\/cofferdam-test-\w+)/g)].map(
    ([, run]) => run!,
  );
  return runs.length > 0 && !runs.some((run) => isAtOrBelow(folder, run));
}

/** Everything that still exists in or because of a folder, one line each; empty when all is clean. */
export function findLeftovers(folder: string): string[] {
  const files = spawnSync("find", [folder, "-mindepth", "1", "-maxdepth", "2"], {
    encoding: "latin1",
  });
  if (files.status !== 0) throw new Error(`find failed in ${folder}: ${files.stderr}`);
  return [
    ...mountsBelow(folder).map((point) => `mount ${point}`),
    ...loopDevicesBelow(folder).map((device) => `loop device ${device}`),
    ...processesAround(folder).map(({ pid, command }) => `process ${pid} ${command}`),
    ...files.stdout
      .split("\n")
      .filter((path) => path !== "")
      .map((path) => `file ${path}`),
  ];
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function unescapeMountPoint(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

function readLinkIfThere(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
