import { testHistory, testKeeping } from "./keeping.ts";
import { COPIES, PLAIN } from "./subjects.ts";

testKeeping(PLAIN);
testHistory(COPIES.slice(0, 1));
