import type { StrategyClass } from "../contract/host.ts";
import type { BuiltInStrategyName } from "../model/strategy-names.ts";

/** The built-in strategies, loaded when first used. They pass the same validation as everybody else's. */
export const BUILT_IN_STRATEGIES: Readonly<
  Record<BuiltInStrategyName, () => Promise<StrategyClass>>
> = {
  overlay: async () => (await import("./overlay/strategy.ts")).OverlayStrategy,
  copy_on_write: async () => (await import("./copy_on_write/strategy.ts")).CopyOnWriteStrategy,
  filesystem_copy: async () =>
    (await import("./filesystem_copy/strategy.ts")).FilesystemCopyStrategy,
  transaction_rollback: async () =>
    (await import("./transaction_rollback/strategy.ts")).TransactionRollbackStrategy,
  none: async () => (await import("./none/strategy.ts")).NoneStrategy,
  git_worktree: async () => (await import("./git_worktree/strategy.ts")).GitWorktreeStrategy,
};
