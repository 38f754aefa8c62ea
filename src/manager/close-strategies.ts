import { describeThrown } from "../errors/index.ts";
import { type Engine, guardedOf } from "./engine.ts";

/** Lets every strategy that was used end what it keeps between calls; what fails is told, and harms nobody. */
export async function closeStrategies(engine: Engine): Promise<void> {
  for (const strategyName of engine.registry.loaded()) {
    try {
      const { raw } = await guardedOf(engine, strategyName);
      await raw.close?.();
    } catch (thrown) {
      const reason = describeThrown(thrown);
      engine.emit("strategy.closeFailed", { strategyName, reason }, "warning");
    }
  }
}
