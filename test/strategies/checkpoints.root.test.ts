import { testHistory, testKeeping } from "./keeping.ts";
import { KERNEL } from "./subjects.ts";

testKeeping([KERNEL]);
testHistory([KERNEL]);
