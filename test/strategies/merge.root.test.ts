import { testMerging } from "./merging.ts";
import { KERNEL } from "./subjects.ts";

testMerging([KERNEL]);
