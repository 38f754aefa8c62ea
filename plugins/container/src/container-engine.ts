import { accessSync, constants } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { PlatformUnsupportedError, type RunResult, type StrategyHost } from "cofferdam";

/** The programs that are looked for, in this order. */
const KNOWN = ["podman", "docker"];
/** What the engines themselves go by; everything else of the environment is none of their business. */
const OWN_VARIABLES =
  /^(?:XDG_\w+|CONTAINERS_\w+|CONTAINER_HOST|DOCKER_\w+|REGISTRY_AUTH_FILE|DBUS_SESSION_BUS_ADDRESS|TMPDIR)$/;
/** A layer may be large, and so may an image that has to be fetched. */
const TIME_LIMIT_MS = 30 * 60_000;

/** Configuration of an image, as far as a commit of a container would change it. */
export interface ImageConfig {
  readonly Env?: readonly string[] | null;
  readonly Cmd?: readonly string[] | null;
  readonly Entrypoint?: readonly string[] | null;
  readonly WorkingDir?: string | null;
  readonly User?: string | null;
}

/** The program that makes containers, podman or docker: only what both understand is asked of it. */
export class ContainerEngine {
  readonly program: string;
  readonly #host: StrategyHost;

  constructor(host: StrategyHost, program: string) {
    this.#host = host;
    this.program = program;
  }

  /** Whether it is docker, or calls itself that. */
  get isDocker(): boolean {
    return basename(this.program).includes("docker");
  }

  /** The environment that it is started with. */
  get environment(): Record<string, string> {
    const { PATH = "/usr/local/bin:/usr/bin:/bin", HOME } = process.env;
    const own = Object.entries(process.env).flatMap(([name, value]) =>
      OWN_VARIABLES.test(name) && value !== undefined ? [[name, value] as const] : [],
    );
    return { ...Object.fromEntries(own), PATH, ...(HOME !== undefined && { HOME }) };
  }

  /** Runs it and gives what it said, whatever its exit code. */
  async attempt(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<RunResult> {
    const env = { ...environment, ...this.environment };
    return this.#host.run(this.program, args, { env, timeoutMs: TIME_LIMIT_MS });
  }

  /**
   * Runs it and gives its answer.
   * @throws PlatformUnsupportedError (`PLATFORM_UNSUPPORTED`) with what it said instead.
   */
  async ask(
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ): Promise<string> {
    const result = await this.attempt(args, environment);
    if (result.exitCode === 0) return result.stdout.toString("utf8").trim();
    throw this.failure(args[0] ?? "", result);
  }

  /** The error for an answer that is none. */
  failure(what: string, { stderr, exitCode, signal }: RunResult): PlatformUnsupportedError {
    const said = stderr.toString("utf8").trim().split("\n").at(-1) ?? "";
    const reason = said === "" ? `it ended with ${exitCode ?? signal}` : said;
    const name = basename(this.program);
    return new PlatformUnsupportedError(`${name} ${what} failed: ${reason}`, {
      data: { what: `${name} ${what}`, reason },
      hint: `Find out with \`${name} run\` whether it can start containers here at all.`,
    });
  }

  /** The id of an image; null when it is not there. */
  async imageId(name: string): Promise<string | null> {
    const { exitCode, stdout } = await this.attempt([
      "image",
      "inspect",
      "--format",
      "{{.Id}}",
      name,
    ]);
    return exitCode === 0 ? stdout.toString("utf8").trim() : null;
  }

  /** How an image is configured, and of how many layers it is made. */
  async inspectImage(id: string): Promise<{ config: ImageConfig; layers: number }> {
    const format = '{"config":{{json .Config}},"layers":{{len .RootFS.Layers}}}';
    const answer = await this.ask(["image", "inspect", "--format", format, id]);
    return JSON.parse(answer) as { config: ImageConfig; layers: number };
  }
}

/**
 * The engine with this name, or the first that is there.
 * @throws PlatformUnsupportedError (`PLATFORM_UNSUPPORTED`) when there is none.
 */
export function findEngine(host: StrategyHost, wanted: string | null): ContainerEngine {
  const found = (wanted === null ? KNOWN : [wanted]).flatMap((name) => placeOf(name) ?? []);
  if (found[0] !== undefined) return new ContainerEngine(host, found[0]);
  const reason =
    wanted === null ? "neither podman nor docker is there" : `the program ${wanted} is not there`;
  throw new PlatformUnsupportedError(`No container can be made: ${reason}`, {
    data: { what: "container engine", reason },
    hint: "Install podman (Debian: `apt install podman`) or docker; the option `engine` names the program.",
  });
}

function placeOf(name: string): string | null {
  const folders = isAbsolute(name) ? [""] : (process.env["PATH"] ?? "").split(delimiter);
  for (const folder of folders) {
    const path = isAbsolute(name) ? name : join(folder, name);
    if (isAbsolute(path) && isExecutable(path)) return path;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
