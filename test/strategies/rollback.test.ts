import { testRollingBack } from "./rolling-back.ts";
import { PLAIN } from "./subjects.ts";

testRollingBack(
  "brings resource and workspace back after a commit, and commits again (R34, R64)",
  PLAIN,
);
