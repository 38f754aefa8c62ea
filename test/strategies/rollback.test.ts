import { testRollingBack } from "./rolling-back.ts";
import { PLAIN } from "./subjects.ts";

testRollingBack(PLAIN);
