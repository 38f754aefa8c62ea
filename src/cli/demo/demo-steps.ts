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
const EDITS = "sed -i s/3/5/ site/index.html; sed -i s/300/500/ code/price.js";
const UPDATE = "UPDATE prices SET cents = 500 WHERE fruit = 'apples'";

/** Shows the whole story on things made for it, with real commands, and checks every claim. Leaves nothing behind. */
export async function runDemo(voice: DemoVoice): Promise<void> {
  using ground = await DemoGround.make();
  await new Story(voice, ground, await ground.fingerprint()).tell();
}

class Story {
  readonly #voice: DemoVoice;
  readonly #ground: DemoGround;
  readonly #before: string;

  constructor(voice: DemoVoice, ground: DemoGround, before: string) {
    this.#voice = voice;
    this.#ground = ground;
    this.#before = before;
  }

  async tell(): Promise<void> {
    const { step, tell } = this.#voice;
    step("A directory, a git repository and a database, which belong together.");
    tell(`in ${this.#ground.root}: site/, code/ and shop.db`);
    step("A plan over all three. Whatever works in it changes nothing real.");
    this.#run(["open", "raise", "-q", ...RESOURCES]);
    this.#run(["exec", "raise", "-q", "--", "sh", "-c", EDITS]);
    this.#run(["sql", "raise", "shop.db", UPDATE, "-q"]);
    await this.#expectOld("All three are untouched (checked: files, history, rows).");
    step("One look at everything.");
    this.#run(["diff", "raise", "-q"]);
    step("Somebody else is at work in the repository: the commit fails, and changes nothing.");
    await this.#failOnPurpose();
    step("The commit is killed in the middle (kill -9). What now?");
    await this.#killAndRecover();
    step("Undo: all three are as before.");
    this.#run(["rollback", "raise", "-q"]);
    await this.#expectOld("All three are as before (checked: files, rows, what git shows).");
    step("Forget the plan. Nothing is left of it.");
    this.#run(["clean", "raise", "-q"]);
  }

  async #failOnPurpose(): Promise<void> {
    const release = this.#ground.makeGitBusy();
    try {
      this.#run(["commit", "raise", "-q"], false);
    } finally {
      release();
    }
    await this.#expectOld("Neither the directory nor the database has changed.");
  }

  async #killAndRecover(): Promise<void> {
    const { tell } = this.#voice;
    const line = ["commit", "raise", "-q"];
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
