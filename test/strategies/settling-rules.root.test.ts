import { overlayIn } from "../conformance/subjects.ts";
import { testSettlingRules } from "./settling-rules.ts";

testSettlingRules(overlayIn("kernel"));
