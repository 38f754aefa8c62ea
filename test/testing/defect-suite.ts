import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  type Check,
  capabilitiesOf,
  conformanceAreas,
  directorySubject,
} from "../../src/testing/index.ts";
import { buildProgram } from "../support/program.ts";
import { sampleOf } from "../support/sample-points.ts";

const PROGRAM = fileURLToPath(new URL("./programs/defects.ts", import.meta.url));
/** How many checks run at the same time; each has an installation of its own. */
const AT_ONCE = 4;
/** How many rules beside its own a defect is tried against. */
const OTHER_RULES = 3;

/** The defective strategies as plug-ins of one configuration, so that other processes can load them too. */
export class DefectSuite {
  readonly names: readonly string[];
  readonly #folder: string;

  private constructor(names: readonly string[], folder: string) {
    this.names = names;
    this.#folder = folder;
  }

  /** Puts the strategies into a folder, in which the checks will make theirs. */
  static async open(folder: string): Promise<DefectSuite> {
    const module = join(folder, "defects.mjs");
    copyFileSync(await buildProgram(PROGRAM), module);
    const names = Object.keys((await import(pathToFileURL(module).href)) as object);
    const lines = names.map((name) => `    ${name}: { module: ./defects.mjs, class: ${name} }\n`);
    writeFileSync(
      join(folder, "cofferdam.yaml"),
      `sandbox:\n  custom_strategies:\n${lines.join("")}`,
    );
    return new DefectSuite(names, folder);
  }

  /** Runs a rule of an area and some of the others, all of them in a whole run; gives the titles of broken ones. */
  async brokenRules(strategyName: string, area: string, rule: string): Promise<readonly string[]> {
    const checks = await this.#checksOf(strategyName, area);
    const others = checks.filter(({ title }) => title !== rule);
    const own = checks.filter(({ title }) => title === rule);
    return failing([...own, ...sampleOf(OTHER_RULES, others, this.names.indexOf(strategyName))]);
  }

  /** Runs those of the given rules that concern a strategy; gives which passed and which it breaks. */
  async tryRules(
    strategyName: string,
    area: string,
    titles: readonly string[],
  ): Promise<{ readonly passed: readonly string[]; readonly broken: readonly string[] }> {
    const all = await this.#checksOf(strategyName, area);
    const checks = all.filter(({ title }) => titles.includes(title));
    const broken = await failing(checks);
    const tried = checks.map(({ title }) => title);
    return { passed: tried.filter((title) => !broken.includes(title)), broken };
  }

  async #checksOf(strategyName: string, area: string): Promise<readonly Check[]> {
    const subject = directorySubject({
      name: strategyName,
      strategyName,
      below: this.#folder,
      options: { config: join(this.#folder, "cofferdam.yaml") },
    });
    const capabilities = await capabilitiesOf(subject);
    return conformanceAreas(subject)
      .filter(({ name }) => name === area)
      .flatMap(({ checks }) => checks.filter((check) => check.requires(capabilities) === null));
  }
}

async function failing(checks: readonly Check[]): Promise<readonly string[]> {
  const queue = [...checks];
  const broken: string[] = [];
  const work = async (): Promise<void> => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
      if (!(await passes(check))) broken.push(check.title);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return broken;
}

async function passes(check: Check): Promise<boolean> {
  try {
    await check.run();
    return true;
  } catch {
    return false;
  }
}
