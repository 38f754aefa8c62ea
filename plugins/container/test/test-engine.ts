import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTempFolder } from "../../../test/support/temp.ts";
import { removeFolder } from "../../../test/support/remove-folder.ts";

const STRATEGY = fileURLToPath(new URL("../src/strategy.ts", import.meta.url));
const PLUGIN = fileURLToPath(new URL("..", import.meta.url));
const COMMANDS = [
  "sh",
  "cat",
  "ls",
  "echo",
  "sleep",
  "sed",
  "env",
  "kill",
  "rm",
  "pwd",
  "tty",
  "chmod",
];

/**
 * Defaults that a container cannot start with where a capability for resource limits is missing, as in many containers
 * and virtual machines for tests; and nothing that changes the network of the machine.
 */
const SETTINGS = `[containers]
default_ulimits = []
default_sysctls = []
cgroups = "disabled"
netns = "none"
pids_limit = 0
log_driver = "none"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "crun"
lock_type = "file"
`;

/**
 * Podman with a storage of its own, in a mount namespace in which all else that it writes to lies there too, and the
 * hybrid control groups that crun refuses are covered. Ordinary users get the one user that they are.
 */
const PROGRAM = `#!/bin/sh
S='<folder>'
mkdir -p "$S/run" "$S/cache" "$S/tmp"
export S TMPDIR="$S/tmp" HOME="$S" XDG_RUNTIME_DIR= CONTAINERS_CONF="$S/containers.conf" CONTAINERS_STORAGE_CONF="$S/storage.conf"
user=
if [ "$(id -u)" != 0 ]; then
  user="--user --map-root-user"
  export _CONTAINERS_USERNS_CONFIGURED=done _CONTAINERS_ROOTLESS_UID="$(id -u)" _CONTAINERS_ROOTLESS_GID="$(id -g)"
fi
exec unshare $user --mount --propagation private sh -c '
  mount --bind "$S/run" /run && mount --bind "$S/cache" /var/cache &&
  { ! [ -d /sys/fs/cgroup/unified ] || mount -t tmpfs none /sys/fs/cgroup/unified; } &&
  exec podman --root "$S/root" --runroot /run/storage --tmpdir /run/libpod --volumepath "$S/volumes" "$@"' sh "$@"
`;

/** The image that the tests begin with. */
export const IMAGE = "localhost/small:1";

/** A real podman that leaves nothing on the machine, with a small image. Whoever opens it closes it. */
export class TestEngine {
  readonly folder: string;
  /** What to give as the option `engine`. */
  readonly program: string;
  #configurations = 0;

  constructor(below?: string) {
    this.folder = createTempFolder(below === undefined ? {} : { below });
    this.program = join(this.folder, "podman");
    writeFileSync(join(this.folder, "containers.conf"), SETTINGS);
    const storage = `graphroot = "${this.folder}/root"\nrunroot = "/run/storage"\n`;
    writeFileSync(join(this.folder, "storage.conf"), `[storage]\ndriver = "overlay"\n${storage}`);
    writeFileSync(this.program, PROGRAM.replace("<folder>", this.folder));
    chmodSync(this.program, 0o755);
    this.#makeImage();
  }

  /** Runs podman and gives what it says. */
  ask(...args: readonly string[]): string {
    return execFileSync(this.program, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  }

  /** The names of all containers, and of all images but the one that is always there. */
  left(): string[] {
    const containers = this.ask("ps", "--all", "--format", "{{.Names}}");
    const images = this.ask("images", "--all", "--format", "{{.Repository}}:{{.Tag}}");
    return [containers, images]
      .flatMap((text) => text.split("\n"))
      .filter((line) => line !== "" && line !== IMAGE);
  }

  /** Removes everything but the image that is always there. */
  clear(): void {
    this.ask("rm", "--all", "--force", "--time", "0");
    for (const name of this.left()) this.ask("rmi", name);
  }

  /** Whether an image has this name. */
  has(name: string): boolean {
    return spawnSync(this.program, ["image", "exists", name]).status === 0;
  }

  /** What a system holds in a file. */
  fileIn(image: string, path: string): string {
    return this.ask("run", "--rm", "--pull=never", image, "cat", path);
  }

  /** A configuration that has the strategy with these options. */
  configurationText(options: Readonly<Record<string, unknown>> = {}): string {
    const all = JSON.stringify({ engine: this.program, image: IMAGE, ...options });
    return `sandbox:
  plugin_roots: ["${PLUGIN}"]
  custom_strategies:
    container: { module: "${STRATEGY}", class: ContainerStrategy, options: ${all} }
`;
  }

  /** The same as a file. */
  configuration(options?: Readonly<Record<string, unknown>>): string {
    this.#configurations += 1;
    const file = join(this.folder, `configuration-${this.#configurations}.yaml`);
    writeFileSync(file, this.configurationText(options));
    return file;
  }

  close(): void {
    spawnSync(this.program, ["rm", "--all", "--force", "--time", "0"]);
    removeFolder(this.folder);
  }

  #makeImage(): void {
    const root = join(this.folder, "image");
    for (const folder of ["bin", "etc", "tmp"]) mkdirSync(join(root, folder), { recursive: true });
    copyFileSync("/bin/busybox", join(root, "bin/busybox"));
    for (const name of COMMANDS) symlinkSync("busybox", join(root, "bin", name));
    const archive = join(this.folder, "image.tar");
    execFileSync("tar", [
      "--owner=0",
      "--group=0",
      "--numeric-owner",
      "-C",
      root,
      "-cf",
      archive,
      ".",
    ]);
    const changes = ["ENV PATH=/bin", "ENV FROM_IMAGE=yes", 'CMD ["sh"]', "WORKDIR /tmp"];
    this.ask("import", "-q", ...changes.flatMap((one) => ["--change", one]), archive, IMAGE);
  }
}
