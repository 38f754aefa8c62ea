import type { BytePath } from "../../../src/model/byte-path.ts";
import { probePlatform } from "../../../src/platform/probe.ts";

process.stdout.write(JSON.stringify(await probePlatform((process.argv[2] ?? "") as BytePath)));
