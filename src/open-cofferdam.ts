import { homedir } from "node:os";
import { type CofferdamOptions, openWith } from "./manager/open.ts";
import type { Cofferdam } from "./manager/cofferdam.ts";
import {
  type InspectOptions,
  type MachineReport,
  inspectMachineWith,
} from "./manager/inspect-machine.ts";
import { BUILT_IN_STRATEGIES } from "./strategies/index.ts";

/**
 * Opens the sandboxes of a state directory: reads the configuration, registers the strategies, and recovers what was
 * interrupted. Whoever opens it closes it, best with `await using`.
 * @throws ConfigurationError, RecordDamagedError, PlatformUnsupportedError, StrategyValidationError
 */
export function openCofferdam(options: CofferdamOptions = {}): Promise<Cofferdam> {
  return openWith(options, {
    builtIns: BUILT_IN_STRATEGIES,
    environment: process.env,
    home: homedir(),
    workingDirectory: process.cwd(),
  });
}

/**
 * Finds out what this machine can do for a resource at a path, by trying it where a sandbox would live. What does not
 * work is told in the report, with what to do about it. Leaves nothing behind but the state directory itself.
 * @throws ConfigurationError, and SandboxCreationError when there is nothing at the path
 */
export function inspectMachine(path: string, options: InspectOptions = {}): Promise<MachineReport> {
  return inspectMachineWith(path, options, {
    environment: process.env,
    home: homedir(),
    workingDirectory: process.cwd(),
  });
}
