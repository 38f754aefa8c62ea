import { conformanceOn } from "./conformance-on.ts";
import { COPIED_VIEW } from "./fidelity/columns.ts";

await conformanceOn("ext4", [COPIED_VIEW]);
