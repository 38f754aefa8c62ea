import { gitSubject } from "../../conformance/git-subject.ts";
import { testSettlingRules } from "../settling-rules.ts";

/** What is edited in the checkout, empty folders and modes are no affair of a sandbox of git; see settling.test.ts. */
const LEFT_OUT = new Set([
  "takes each kind of edit back by itself, and all others stay",
  "takes edits back that a checkpoint has kept, which keeps them",
  "leaves the other side once it is told to, where somebody changed the mode of a file that the sandbox edits",
  "takes back to what others have made of it, and edits that again without a conflict",
  "publishes its own side once it is told to, where somebody edited a file that the sandbox edits",
  "publishes its own side once it is told to, where somebody edited a file that the sandbox deletes",
  "publishes its own side once it is told to, where somebody deleted a file that the sandbox edits",
  "publishes its own side once it is told to, where somebody moved the folder around a file that the sandbox edits",
  "publishes its own side once it is told to, where somebody made a file that the sandbox makes too",
  "publishes its own side once it is told to, where somebody changed the mode of a file that the sandbox edits",
  "publishes its own side once it is told to, where somebody retargeted a link that the sandbox retargets",
  "gives back what others did when a commit over it is taken back",
  "is in conflict again with what others do after it was settled",
  "is in conflict again after a return to a state from before it was settled",
]);

testSettlingRules(gitSubject(), LEFT_OUT);
