import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCofferdam } from "../../light.ts";

const PAGE = "<h1>Apples: 3 euros</h1>\n";
const CODE = "export const applePrice = 300;\n";
const PRICES =
  "CREATE TABLE prices (fruit TEXT PRIMARY KEY, cents INTEGER); INSERT INTO prices VALUES ('apples', 300), ('pears', 400)";
const GIT_NAME = ["-c", "user.name=Demo", "-c", "user.email=demo@example.invalid"];

/** A directory, a repository and a database to play with, beside a place for the state; gone when disposed of. */
export class DemoGround implements Disposable {
  readonly root: string;
  readonly stateDirectory: string;

  private constructor(root: string) {
    this.root = root;
    this.stateDirectory = join(root, ".state");
  }

  /** Makes them, the database by the engine itself: an empty file is an empty SQLite database. */
  static async make(): Promise<DemoGround> {
    const ground = new DemoGround(mkdtempSync(join(realpathSync(tmpdir()), "coffer-demo-")));
    try {
      mkdirSync(join(ground.root, "site"));
      mkdirSync(join(ground.root, "code"));
      writeFileSync(join(ground.root, "site/index.html"), PAGE);
      writeFileSync(join(ground.root, "code/price.js"), CODE);
      writeFileSync(join(ground.root, "shop.db"), "");
      ground.git("init", "-q", "-b", "main");
      ground.git("config", "user.name", "Demo");
      ground.git("config", "user.email", "demo@example.invalid");
      ground.git("add", "price.js");
      ground.git(...GIT_NAME, "commit", "-q", "-m", "first");
      await ground.#withDatabase(async (plan) => {
        await plan.sandbox("shop").write("prices", PRICES);
        await plan.commit();
      });
      return ground;
    } catch (error) {
      ground[Symbol.dispose]();
      throw error;
    }
  }

  /** Runs git in the repository and gives what it prints. */
  git(...args: readonly string[]): string {
    const done = spawnSync("git", ["-C", join(this.root, "code"), ...args], { encoding: "utf8" });
    if (done.error) throw new Error("The demo needs git", { cause: done.error });
    if (done.status !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
    return done.stdout.trim();
  }

  /** Lets git look busy, as while somebody commits; gives the way back. */
  makeGitBusy(): () => void {
    const lock = join(this.root, "code/.git/index.lock");
    writeFileSync(lock, "", { flag: "wx" });
    return () => rmSync(lock);
  }

  /** Whether a plan is there, however far its making came. */
  hasPlan(): boolean {
    const plans = join(this.stateDirectory, "plans");
    return existsSync(plans) && readdirSync(plans).length > 0;
  }

  /** How far a commit is: what the engine has begun and not finished. */
  transactions(): number {
    return readdirSync(join(this.stateDirectory, "tx")).length;
  }

  /** Everything about the three that a user could notice. */
  async fingerprint(): Promise<string> {
    const files = ["site", "code"].flatMap((name) => this.#filesOf(name));
    const rows = await this.#withDatabase((plan) =>
      plan.sandbox("shop").read("SELECT * FROM prices ORDER BY fruit"),
    );
    const parts = [...files, this.git("rev-parse", "HEAD"), this.git("status", "--short")];
    return createHash("sha256").update(parts.join("\n")).update(rows).digest("hex");
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  #filesOf(name: string): string[] {
    const folder = join(this.root, name);
    const entries = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const shown = entries.filter((path) => path !== ".git" && !path.startsWith(".git/"));
    return shown.toSorted().map((path) => {
      const { mode, uid, gid, mtimeMs } = lstatSync(join(folder, path));
      const content = readFileSync(join(folder, path)).toString("hex");
      return [path, mode, uid, gid, mtimeMs, content].join(" ");
    });
  }

  /** Works on the database in a plan of its own, which is gone afterwards. */
  async #withDatabase<T>(
    work: (
      plan: Awaited<ReturnType<Awaited<ReturnType<typeof openCofferdam>>["plan"]>>,
    ) => Promise<T>,
  ): Promise<T> {
    const { stateDirectory } = this;
    await using cofferdam = await openCofferdam({ stateDirectory, config: false });
    const location = `sqlite:${join(this.root, "shop.db")}`;
    const plan = await cofferdam.plan("look", [{ id: "shop", type: "database", location }]);
    try {
      return await work(plan);
    } finally {
      await plan.cleanup({ force: true });
    }
  }
}
