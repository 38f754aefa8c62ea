import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { chownSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { nobody } from "./nobody.ts";
import { removeFolder } from "./remove-folder.ts";
import { createTempFolder } from "./temp.ts";

const PATIENCE_MS = 60_000;
const GATEWAY = "client.gateway";

/**
 * A real Ceph on loopback with its gateway for S3: one monitor, one store that keeps objects in memory, one gateway, all
 * run by an ordinary user and in a temp folder. Buckets can keep versions. Whoever starts it disposes it.
 */
export class CephServer implements AsyncDisposable {
  readonly port: number;
  /** The name and the password of the one user. */
  readonly keyId = "tester";
  readonly secret = randomBytes(20).toString("hex");
  /** Both, in the form of `~/.aws/credentials`. */
  readonly credentialsFile: string;
  readonly #folder: string;
  readonly #stores: ChildProcess[] = [];
  #gateway: ChildProcess | null = null;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
    this.credentialsFile = join(folder, "credentials");
    const lines = [`aws_access_key_id = ${this.keyId}`, `aws_secret_access_key = ${this.secret}`];
    writeFileSync(this.credentialsFile, `[default]\n${lines.join("\n")}\n`, { mode: 0o644 });
  }

  /** Makes a new server and waits until it answers. */
  static async start(): Promise<CephServer> {
    const folder = createTempFolder({ mode: 0o755 });
    const server = new CephServer(folder, await freePort());
    try {
      await server.#makeStores(await freePort());
      await server.resume();
      const user = ["--uid", "tester", "--display-name", "tester"];
      const keys = ["--access-key", server.keyId, "--secret", server.secret];
      server.#run("radosgw-admin", ["-n", GATEWAY, "user", "create", ...user, ...keys]);
      return server;
    } catch (thrown) {
      await server[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Whether bytes are the beginning of an answer; what was asked does not matter. */
  isAnswer(bytes: Buffer): boolean {
    return bytes.subarray(0, 5).toString("latin1") === "HTTP/";
  }

  /** Starts the gateway and waits until it answers. */
  async resume(): Promise<void> {
    this.#gateway = this.#spawn("radosgw", ["-f", "-n", GATEWAY]);
    const latest = Date.now() + PATIENCE_MS;
    while (!(await answers(this.port))) {
      const hasEnded = this.#gateway.exitCode !== null;
      if (hasEnded || Date.now() > latest) throw new Error(`no gateway: ${this.#log("radosgw")}`);
      await pause(50);
    }
  }

  /** Ends the gateway at once. What was stored stays. */
  async halt(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = null;
    if (gateway !== null) await end(gateway);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.halt();
    for (const store of this.#stores.splice(0).toReversed()) await end(store);
    removeFolder(this.#folder);
  }

  async #makeStores(monitorPort: number): Promise<void> {
    for (const name of ["mon", "osd", "log", "run"]) {
      mkdirSync(join(this.#folder, name));
      if (isRoot()) chownSync(join(this.#folder, name), nobody.uid, nobody.gid);
    }
    const cluster = randomUUID();
    writeFileSync(this.#config, configuration(this.#folder, cluster, monitorPort, this.port));
    writeFileSync(join(this.#folder, "keyring"), "");
    const map = join(this.#folder, "run", "map");
    const address = `[v2:127.0.0.1:${monitorPort}]`;
    this.#run("monmaptool", ["--create", "--addv", "a", address, "--fsid", cluster, map]);
    const keyring = ["--keyring", join(this.#folder, "keyring")];
    this.#run("ceph-mon", ["--mkfs", "-i", "a", "--monmap", map, ...keyring]);
    this.#stores.push(this.#spawn("ceph-mon", ["-f", "-i", "a"]));
    const store = randomUUID();
    await this.#announce(store);
    this.#run("ceph-osd", ["-i", "0", "--mkfs", "--osd-uuid", store]);
    this.#stores.push(this.#spawn("ceph-osd", ["-f", "-i", "0"]));
  }

  /** Tells the monitor of the store, as soon as it answers. */
  async #announce(store: string): Promise<void> {
    const latest = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        this.#run("ceph", ["--connect-timeout", "20", "osd", "new", store]);
        return;
      } catch (thrown) {
        if (Date.now() > latest) throw thrown;
      }
      await pause(200);
    }
  }

  get #config(): string {
    return join(this.#folder, "ceph.conf");
  }

  #run(program: string, args: readonly string[]): void {
    execFileSync(program, ["-c", this.#config, ...args], {
      ...asServer(),
      cwd: this.#folder,
      env: this.#environment(),
      stdio: "pipe",
    });
  }

  #spawn(program: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.#folder, `${program}.out`), "a");
    // It ends with this process, however that ends.
    const command = ["--pdeathsig", "KILL", program, "-c", this.#config, ...args];
    const child = spawn("setpriv", command, {
      ...asServer(),
      cwd: this.#folder,
      env: this.#environment(),
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    return child;
  }

  #environment(): NodeJS.ProcessEnv {
    return { PATH: process.env["PATH"], HOME: this.#folder, LC_ALL: "C" };
  }

  #log(program: string): string {
    return readFileSync(join(this.#folder, `${program}.out`), "utf8").slice(-1000);
  }
}

/** One copy of everything, no authentication between the parts, and nothing done in the background. */
function configuration(folder: string, cluster: string, monitor: number, gateway: number): string {
  return `[global]
fsid = ${cluster}
mon host = [v2:127.0.0.1:${monitor}]
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
auth allow insecure global id reclaim = false
run dir = ${folder}/run
crash dir = ${folder}/run
admin socket =
log file = ${folder}/log/$name.log
mon cluster log file = ${folder}/log/cluster.log
keyring = ${folder}/keyring
objecter tick interval = 0.2
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
[mon]
mon data = ${folder}/mon
mon data avail crit = 1
paxos propose interval = 0.02
paxos min wait = 0.01
mon osd adjust heartbeat grace = false
[osd]
osd data = ${folder}/osd
osd objectstore = memstore
osd journal =
memstore device bytes = 1073741824
osd memory target = 939524096
osd class load list = *
osd class default list = *
osd op num shards = 2
osd heartbeat grace = 3600
[${GATEWAY}]
rgw data = ${folder}/run
rgw frontends = beast endpoint=127.0.0.1:${gateway} tcp_nodelay=1
rgw thread pool size = 32
rgw cache enabled = false
rgw run sync thread = false
rgw enable lc threads = false
rgw enable quota threads = false
rgw enable usage log = false
`;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const settle = (isThere: boolean) => (): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", settle(true)).once("error", settle(false));
  });
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function asServer(): { readonly uid?: number; readonly gid?: number } {
  return isRoot() ? nobody : {};
}
