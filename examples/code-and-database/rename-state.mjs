import { execFileSync } from "node:child_process";
import { openCofferdam } from "cofferdam";

const PLAN = "rename-open-to-new";
const [repository = ".", option] = process.argv.slice(2);

const coffer = await openCofferdam({ config: "cofferdam.yaml" });
try {
  await (option === "--undo" ? undo() : begin());
} finally {
  await coffer.close();
}

async function begin() {
  const plan = await coffer.plan(PLAN, [
    { id: "code", type: "git-repository", location: repository },
    { id: "rows", type: "database", location: "shop" },
  ]);
  // The commit can be taken back later, by another process.
  await plan.keep();
  try {
    await upgrade(plan);
  } catch (error) {
    await plan.cleanup({ force: true });
    throw error;
  }
}

async function upgrade(plan) {
  const code = await plan.sandbox("code").getPath();
  execFileSync("sed", ["-i", 's/"open"/"new"/g', "orders.mjs"], { cwd: code });
  await plan
    .sandbox("rows")
    .write("rename", "UPDATE orders SET state = 'new' WHERE state = 'open'");

  const diff = await plan.diff();
  for (const view of Object.values(diff.resources)) console.log(await view.text());

  execFileSync("node", ["--test"], { cwd: code, stdio: "pipe" });
  const { outcome } = await plan.commit({ expect: diff.digest, message: "Orders begin as new" });
  console.log(outcome);
}

async function undo() {
  const plan = await coffer.plan(PLAN);
  const { succeeded } = await plan.undo();
  await plan.cleanup({ force: true });
  console.log(`taken back: ${succeeded.join(", ")}`);
}
