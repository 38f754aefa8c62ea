import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Cofferdam, type Plan, openCofferdam } from "../../../src/index.ts";
import { type RunningChild, startChild } from "../../support/child.ts";
import { tempFolder } from "../../support/temp.ts";
import { createRandom, faultSettings } from "../settings.ts";
import { settleTally } from "../tally.ts";
import type { Contest, Said } from "./contest.ts";

const PROGRAM = new URL("../programs/contender.ts", import.meta.url);
/** No contender begins later than this after the other. */
const JITTER_MS = 12;

/** Another process with the same state directory. */
export interface Contender extends AsyncDisposable {
  readonly tell: (contest: Contest) => Promise<Said>;
}

/** Real directories, and several processes that want them. */
export interface Arena {
  readonly folder: string;
  readonly coffer: Cofferdam;
  readonly state: string;
  /** A fresh real directory. */
  readonly real: (name: string) => string;
}

/** Opens an arena for the running test. */
export async function openArena(): Promise<Arena & AsyncDisposable> {
  const folder = tempFolder();
  const state = join(folder, "state");
  const coffer = await openCofferdam({ stateDirectory: state, config: false });
  return {
    folder,
    state,
    coffer,
    real: (name) => {
      const path = join(folder, name);
      mkdirSync(path);
      return path;
    },
    [Symbol.asyncDispose]: () => coffer.close(),
  };
}

/** Starts a process that is told what to do. */
export async function startContender({ state }: Pick<Arena, "state">): Promise<Contender> {
  const child = await startChild(PROGRAM, [state]);
  const answers = createInterface({ input: child.process.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Said> => {
    const answer = await answers.next();
    if (answer.done === true) throw new Error(`a contender ended: ${await endOf(child)}`);
    return JSON.parse(answer.value) as Said;
  };
  await next();
  return {
    tell: (contest) => {
      child.process.stdin.write(`${JSON.stringify(contest)}\n`);
      return next();
    },
    [Symbol.asyncDispose]: async () => {
      child.process.stdin.end();
      await child.result;
    },
  };
}

async function endOf({ result }: RunningChild): Promise<string> {
  const { code, signal, stderr } = await result;
  return `${code} ${signal} ${stderr}`;
}

/** A plan with sandboxes of real directories, by id, nothing of which is ever mounted. */
export function planOver(
  { coffer }: Arena,
  planId: string,
  places: Readonly<Record<string, string>>,
): Promise<Plan> {
  return coffer.plan(
    planId,
    Object.entries(places).map(([id, location], at) => ({
      id,
      type: "fs-directory",
      location,
      sandboxStrategy: at % 2 === 0 ? "overlay" : "copy_on_write",
    })),
  );
}

/** How many rounds there are, each with waits of its own; the seed is printed. */
export async function playRounds(
  race: { readonly name: string; readonly whole: number; readonly few: number },
  play: (round: Round) => Promise<void>,
): Promise<void> {
  const settings = faultSettings();
  const began = Date.now();
  const random = createRandom(settings.seed);
  const count = settings.all ? race.whole : race.few;
  const violations: string[] = [];
  for (let at = 0; at < count; at++) {
    const afterMs = (): number => Math.floor(random() * JITTER_MS);
    try {
      await play({ at, random, afterMs });
    } catch (error) {
      violations.push(`round ${at}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
  settleTally(
    {
      suite: "race",
      shape: race.name,
      faults: "rounds",
      seed: settings.seed,
      enumerated: race.whole,
      tried: count,
      fired: count,
      old: 0,
      new: count - violations.length,
      violations,
      seconds: Math.round((Date.now() - began) / 1000),
    },
    settings,
  );
}

/** One round of a race. */
export interface Round {
  readonly at: number;
  readonly random: () => number;
  /** A short wait, another one each time. */
  readonly afterMs: () => number;
}
