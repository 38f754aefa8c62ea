import { quoted } from "../quoted.ts";
import { DemoGround } from "./demo-ground.ts";
import { killCoffer, runCoffer } from "./run-coffer.ts";

/** How the steps are told. */
export interface DemoVoice {
  /** What is done now. */
  step(text: string): void;
  /** What came of it. */
  tell(text: string): void;
}

const RESOURCES = ["-r", "./site", "-r", "git:./code", "-r", "sqlite:./shop.db"];
const PLAN = "raise";
const EDITS = "sed -i s/3/5/ site/index.html; sed -i s/300/500/ code/price.js";
const UPDATE = "UPDATE prices SET cents = 500 WHERE fruit = 'apples'";

/**
 * Shows the whole story on things made for it, with real commands, and checks every claim. Leaves nothing behind, also
 * when it is stopped half way.
 */
export async function runDemo(voice: DemoVoice, signal: AbortSignal): Promise<void> {
  const ground = await DemoGround.make();
  const leave = (): void => leaveGround(ground);
  // Whoever reads the output may stop, and a second Ctrl-C does not wait.
  process.once("exit", leave);
  try {
    await new Story(voice, ground, await ground.fingerprint(), signal).tell();
  } finally {
    process.off("exit", leave);
    leave();
  }
}

/** A plan that is still there may hold a mount, which has to go first. */
function leaveGround(ground: DemoGround): void {
  if (ground.hasPlan()) runCoffer(ground, ["clean", PLAN, "--force", "-q"]);
  ground[Symbol.dispose]();
}

class Story {
  readonly #voice: DemoVoice;
  readonly #ground: DemoGround;
  readonly #before: string;
  readonly #signal: AbortSignal;

  constructor(voice: DemoVoice, ground: DemoGround, before: string, signal: AbortSignal) {
    this.#voice = voice;
    this.#ground = ground;
    this.#before = before;
    this.#signal = signal;
  }

  async tell(): Promise<void> {
    const { step, tell } = this.#voice;
    step("A directory, a git repository and a database, which belong together.");
    tell(`in ${this.#ground.root}: site/, code/ and shop.db`);
    step("A plan over all three. Whatever works in it changes nothing real.");
    this.#run(["open", PLAN, "-q", ...RESOURCES]);
    this.#run(["exec", PLAN, "-q", "--", "sh", "-c", EDITS]);
    this.#run(["sql", PLAN, "shop.db", UPDATE, "-q"]);
    await this.#expectOld("All three are untouched (checked: files, history, rows).");
    step("One look at everything.");
    this.#run(["diff", PLAN, "-q"]);
    step("Somebody else is at work in the repository: the commit fails, and changes nothing.");
    await this.#failOnPurpose();
    step("The commit is killed in the middle (kill -9). What now?");
    await this.#killAndRecover();
    step("Undo: all three are as before.");
    this.#run(["rollback", PLAN, "-q"]);
    await this.#expectOld("All three are as before (checked: files, rows, what git shows).");
    step("Forget the plan. Nothing is left of it.");
    this.#run(["clean", PLAN, "-q"]);
  }

  async #failOnPurpose(): Promise<void> {
    const release = this.#ground.makeGitBusy();
    try {
      this.#run(["commit", PLAN, "-q"], false);
    } finally {
      release();
    }
    await this.#expectOld("Neither the directory nor the database has changed.");
  }

  async #killAndRecover(): Promise<void> {
    const { tell } = this.#voice;
    const line = ["commit", PLAN, "-q"];
    tell(`$ coffer ${line.join(" ")} & kill -9 $!`);
    await killCoffer(this.#ground, line);
    this.#run(["recover", "-q"]);
    const isOld = (await this.#ground.fingerprint()) === this.#before;
    prove(isOld !== (await this.#isNew()), "all three are old, or all three are new");
    tell(isOld ? "All three are as before; the edits are kept." : "All three are new.");
    if (!isOld) return;
    this.#run(line);
    prove(await this.#isNew(), "all three are new");
    tell("Now all three are new.");
  }

  async #isNew(): Promise<boolean> {
    const shown = this.#ground.git("show", "HEAD:price.js").includes("500");
    return shown && (await this.#ground.fingerprint()) !== this.#before;
  }

  /** Runs a command and shows it with its output. */
  #run(args: readonly string[], mustSucceed = true): void {
    this.#signal.throwIfAborted();
    const { tell } = this.#voice;
    const line = `coffer ${args.map(quoted).join(" ")}`;
    tell(`$ ${line}`);
    const { code, text } = runCoffer(this.#ground, args);
    if (text !== "") tell(text);
    prove((code === 0) === mustSucceed, `\`${line}\` ${mustSucceed ? "succeeds" : "fails"}`);
  }

  async #expectOld(claim: string): Promise<void> {
    prove((await this.#ground.fingerprint()) === this.#before, claim);
    this.#voice.tell(claim);
  }
}

function prove(isTrue: boolean, claim: string): void {
  if (!isTrue) throw new Error(`The demo expected that ${claim}, and it is not so`);
}
