import { PLAIN } from "./subjects.ts";
import { testUndoingInTurn } from "./undoing-in-turn.ts";

testUndoingInTurn(PLAIN);
