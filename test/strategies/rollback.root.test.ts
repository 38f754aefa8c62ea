import { testRollingBack } from "./rolling-back.ts";
import { KERNEL } from "./subjects.ts";

testRollingBack([KERNEL]);
