import { PlatformUnsupportedError, type CommandRequest, type ShownPlace } from "cofferdam";
import type { ImageConfig } from "./container-engine.ts";
import type { ContainerSettings } from "./container-options.ts";

/** What every command may know of whoever runs it: how to talk to people. */
const ALWAYS = ["TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "LANG", "LANGUAGE", "LC_*", "TZ"];

/** The label by which everything of a sandbox is found. */
export const LABEL = "cofferdam.sandbox";

/** A container to be made. */
export interface ContainerPlan {
  readonly name: string;
  readonly sandboxId: string;
  readonly image: string;
  /** The real path of the sandbox that the container belongs to. */
  readonly location: string;
  readonly settings: ContainerSettings;
  readonly request: CommandRequest;
}

/** The variables that a command gets from outside. The engine takes their values from its own environment. */
export function variablesFor(
  { environment, planEnvironment }: CommandRequest,
  settings: ContainerSettings,
): Record<string, string> {
  const wanted = [...ALWAYS, ...settings.environment];
  const isWanted = (name: string): boolean =>
    wanted.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : name === one));
  const passed = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && isWanted(name) ? [[name, value] as const] : [],
  );
  return { ...Object.fromEntries(passed), ...planEnvironment };
}

/** The arguments of `create`. */
export function createArguments(plan: ContainerPlan, variables: readonly string[]): string[] {
  const { name, sandboxId, image, settings, request } = plan;
  const { argv, terminal, network, folders } = request;
  return [
    "create",
    ...["--name", name, "--label", `${LABEL}=${sandboxId}`, "--pull=never", "--init"],
    // The workspace keeps the labels of the host: the sandbox is published with them.
    ...["--security-opt", "label=disable"],
    ...(network ? [] : ["--network", "none"]),
    ...(settings.user === null ? [] : ["--user", settings.user]),
    "--interactive",
    ...(terminal ? ["--tty"] : []),
    ...folders.flatMap(bind),
    ...["--workdir", workingFolder(plan)],
    ...variables.flatMap((variable) => ["--env", variable]),
    // An image that is a program would take the command for its arguments.
    ...["--entrypoint", ""],
    image,
    ...argv,
  ];
}

/** The instructions that make the image of a container what its own image was, apart from the files. */
export function configChanges(
  { Env, Cmd, Entrypoint, WorkingDir, User }: ImageConfig,
  variables: readonly string[],
  settings: ContainerSettings,
): string[] {
  const own = new Map(
    (Env ?? []).map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
  return [
    ...variables.map((name) => `ENV ${name}=${JSON.stringify(own.get(name) ?? "")}`),
    `ENTRYPOINT ${JSON.stringify(Entrypoint ?? [])}`,
    `CMD ${JSON.stringify(Cmd ?? [])}`,
    `WORKDIR ${WorkingDir === "" ? "/" : (WorkingDir ?? "/")}`,
    ...(settings.user === null ? [] : [`USER ${User === "" ? "0" : (User ?? "0")}`]),
  ];
}

function bind({ location, workspace }: ShownPlace): string[] {
  const paths = [workspace, location];
  if (!paths.some((path) => path.includes(":"))) return ["--volume", paths.join(":")];
  if (!paths.some((path) => /[,"]/.test(path)))
    return ["--mount", `type=bind,source=${workspace},destination=${location}`];
  const reason = `no container can be told of a path with both a colon and a comma: ${location}`;
  throw new PlatformUnsupportedError(`The command was not started: ${reason}`, {
    data: { what: "path in a container", reason },
    operation: "run",
    hint: "Rename the folder.",
  });
}

/** Where the command starts: in the container only what is shown is sure to be there. */
function workingFolder({ location, request: { cwd, folders } }: ContainerPlan): string {
  const isShown = folders.some((one) => cwd === one.location || cwd.startsWith(`${one.location}/`));
  return isShown ? cwd : location;
}
