import { openCofferdam, UnsupportedStrategyError, withDefaults } from "../../index.ts";
import type { Cofferdam, Sandbox } from "../../index.ts";
import { DemoFolder } from "./demo-folder.ts";

/** How the steps are told. */
export interface DemoVoice {
  /** What is done now. */
  step(text: string): void;
  /** What came of it. */
  tell(text: string): void;
}

/** Shows a sandbox at work on a directory made for it, and checks every claim. Leaves nothing behind. */
export async function runDemo(voice: DemoVoice, strategy: string | undefined): Promise<void> {
  using folder = new DemoFolder();
  const before = folder.fingerprint();
  voice.step(`A directory with some files: ${folder.shop}`);
  voice.tell(folder.names().join("\n"));

  const { stateDirectory } = folder;
  await using cofferdam = await openCofferdam({ stateDirectory, config: false });
  if (strategy !== undefined) await refuseUnfit(cofferdam, strategy);
  const chosen = strategy === undefined ? {} : { strategy };
  const ref = await cofferdam.create("demo", folder.shop, chosen);
  const mode = typeof ref.metadata["mode"] === "string" ? `, mode ${ref.metadata["mode"]}` : "";
  voice.step(`A sandbox of it. Strategy ${ref.strategyName}${mode}.`);
  const sandbox = cofferdam.sandbox(ref);
  try {
    await work(voice, folder, sandbox, before);
  } finally {
    await sandbox.cleanup();
  }
  voice.step("Cleaned up. Nothing is left of the sandbox.");
}

/** The demo shows that nothing changes before the commit and that undo brings it back: not every strategy does that. */
async function refuseUnfit(cofferdam: Cofferdam, strategyName: string): Promise<void> {
  const { isolation, undoCommit } = withDefaults(
    (await cofferdam.strategy(strategyName)).capabilities,
  );
  if (isolation === "full" && undoCommit) return;
  throw new UnsupportedStrategyError(
    `The strategy ${strategyName} does not isolate or cannot undo, which is what the demo shows`,
    {
      data: { resourceType: "fs-directory", strategyName, allowed: [] },
      operation: "demo",
      hint: "`coffer strategies` tells what each strategy promises.",
    },
  );
}

async function work(
  voice: DemoVoice,
  folder: DemoFolder,
  sandbox: Sandbox,
  before: string,
): Promise<void> {
  voice.step("Edits in the sandbox: change a file, add one, remove one, rename one.");
  await sandbox.write("prices/apples.txt", "apples 5\n");
  await sandbox.write("prices/plums.txt", "plums 6\n");
  await sandbox.remove("notes/todo.txt");
  await sandbox.rename("prices/pears.txt", "prices/green-pears.txt");
  prove(folder.fingerprint() === before, "the directory is untouched before the commit");
  voice.tell("The directory itself is untouched (checked: content, modes, owners, times).");

  voice.step("The diff:");
  const diff = await sandbox.diff();
  voice.tell((await diff.text()).trimEnd());

  voice.step("Commit, exactly what was shown.");
  const result = await sandbox.commit({ expect: diff.digest, message: "new prices" });
  const { changed, added, deleted } = result;
  voice.tell(`changed ${list(changed)}\nadded ${list(added)}\ndeleted ${list(deleted)}`);
  voice.tell(`The directory now: ${list(folder.names())}`);
  prove(folder.fingerprint() !== before, "the commit changed the directory");

  voice.step("Undo.");
  await sandbox.rollback();
  prove(folder.fingerprint() === before, "undo brought everything back");
  voice.tell("The directory is as before (checked: content, modes, owners, times).");
}

function list(paths: readonly string[]): string {
  return paths.length === 0 ? "nothing" : paths.join(", ");
}

function prove(isTrue: boolean, claim: string): void {
  if (!isTrue) throw new Error(`The demo expected that ${claim}, and it is not so`);
}
