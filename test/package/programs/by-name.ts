import {
  FilesystemCopyStrategy,
  type CommitResult,
  type FinishedTransaction,
  type InterruptedTransaction,
  type InterruptedWork,
  type RecoveryReport,
  type SandboxDescription,
  type SandboxRef,
  type SandboxStatus,
  type TransactionPart,
  type UndoPreview,
  inspectMachine,
  openCofferdam,
} from "cofferdam";

/** What can be done; each gets the text that it is given. */
export interface Answers {
  /** Edits and commits resources with these strategies: `id=strategy,…`. */
  readonly commit: null;
  readonly look: {
    readonly sandboxes: readonly SandboxDescription[];
    readonly statuses: readonly SandboxStatus[];
    readonly work: InterruptedWork;
    readonly journal: readonly InterruptedTransaction[];
    readonly history: readonly FinishedTransaction[];
  };
  readonly recover: RecoveryReport;
  readonly preview: readonly UndoPreview[];
  readonly undo: null;
  readonly cleanup: null;
}

/** Publishes nothing: the process is killed when all is decided. */
class Killed extends FilesystemCopyStrategy {
  override commitPrepared(ref: SandboxRef, part: TransactionPart): Promise<CommitResult> {
    if (task !== "commit") return super.commitPrepared(ref, part);
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => undefined);
  }
}

const [task = "", wanted = ""] = process.argv.slice(2);
const places = { stateDirectory: "state", config: false } as const;
const cofferdam = await openCofferdam({
  ...places,
  recover: "report",
  strategies: { killed: Killed },
});

const tasks: { readonly [Name in keyof Answers]: () => Promise<Answers[Name]> } = {
  async commit() {
    for (const [id = "", strategy = ""] of wanted.split(",").map((pair) => pair.split("="))) {
      const resource = { resourceId: id, type: "fs-directory", location: id };
      const sandbox = cofferdam.sandbox(await cofferdam.create("plan", resource, { strategy }));
      await sandbox.write("prices.txt", "apples 5\n");
    }
    await (await cofferdam.plan("plan")).commit();
    return null;
  },
  async look() {
    const sandboxes = await cofferdam.list("plan");
    return {
      sandboxes,
      statuses: await Promise.all(sandboxes.map(({ ref }) => cofferdam.status(ref))),
      work: await cofferdam.interrupted(),
      journal: (await inspectMachine(".", places)).interrupted,
      history: await cofferdam.history(),
    };
  },
  recover: () => cofferdam.recover(),
  async preview() {
    const sandboxes = await cofferdam.list("plan");
    return Promise.all(sandboxes.map(({ ref }) => cofferdam.sandbox(ref).previewUndo()));
  },
  async undo() {
    await (await cofferdam.plan("plan")).undo();
    return null;
  },
  async cleanup() {
    await (await cofferdam.plan("plan")).cleanup();
    return null;
  },
};

const answer = await tasks[task as keyof Answers]();
await cofferdam.close();
process.stdout.write(JSON.stringify(answer));
