import { conformanceOn } from "./conformance-on.ts";

await conformanceOn("tmpfs");
