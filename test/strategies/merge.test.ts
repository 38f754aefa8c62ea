import { testMerging } from "./merging.ts";
import { PLAIN } from "./subjects.ts";

testMerging(PLAIN);
