import { testOpenWorkspace, testSharing } from "./sharing.ts";
import { COPIES, PLAIN } from "./subjects.ts";

testSharing(PLAIN.slice(1));
testOpenWorkspace(COPIES.slice(0, 1));
