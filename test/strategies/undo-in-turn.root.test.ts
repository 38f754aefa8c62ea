import { KERNEL } from "./subjects.ts";
import { testUndoingInTurn } from "./undoing-in-turn.ts";

testUndoingInTurn([KERNEL]);
