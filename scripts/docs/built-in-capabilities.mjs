import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What every built-in strategy promises, asked of the strategies themselves. */
export async function builtInCapabilities() {
  const { BUILT_IN_STRATEGY_NAMES, openCofferdam, withDefaults } =
    await import("../../dist/index.js");
  const folder = mkdtempSync(join(tmpdir(), "cofferdam-docs-"));
  try {
    const cofferdam = await openCofferdam({ stateDirectory: join(folder, "state"), config: false });
    const found = [];
    for (const name of BUILT_IN_STRATEGY_NAMES) {
      const { capabilities } = await cofferdam.strategy(name);
      found.push([name, withDefaults(capabilities)]);
    }
    await cofferdam.close();
    return new Map(found);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
