import { testFailingRecord, testSettling } from "./settling.ts";
import { COPIES, PLAIN } from "./subjects.ts";

testSettling(PLAIN);
testFailingRecord(COPIES);
