import { overlayIn, plain } from "../conformance/subjects.ts";
import { testSettlingRules } from "./settling-rules.ts";

const SUBJECTS = [
  plain("copy_on_write"),
  plain("filesystem_copy"),
  overlayIn("copy"),
  overlayIn("userns"),
  overlayIn("fuse"),
];

for (const subject of SUBJECTS) testSettlingRules(subject);
