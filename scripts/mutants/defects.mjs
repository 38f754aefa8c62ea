import { DURABILITY } from "./defects/durability.mjs";
import { JOURNAL } from "./defects/journal.mjs";
import { LOCKS } from "./defects/locks.mjs";
import { MANAGER } from "./defects/manager.mjs";
import { PLATFORM } from "./defects/platform.mjs";
import { REGISTRY_AND_CONFIG } from "./defects/registry-and-config.mjs";
import { STRATEGIES } from "./defects/strategies.mjs";
import { TREE } from "./defects/tree.mjs";

/**
 * Defects that somebody could make: the text in a file of src/, what it becomes, and the tests that
 * have to fail then, as files and a pattern of their titles. Tests of the fault suites get settings.
 */
export const DEFECTS = [
  ...JOURNAL,
  ...LOCKS,
  ...MANAGER,
  ...TREE,
  ...STRATEGIES,
  ...PLATFORM,
  ...REGISTRY_AND_CONFIG,
  ...DURABILITY,
];
