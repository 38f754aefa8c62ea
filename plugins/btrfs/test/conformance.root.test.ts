import { runConformance } from "cofferdam/testing";
import { afterAll } from "vitest";
import { kitRunner } from "../../../test/support/kit-runner.ts";
import { mountFileSystem } from "../../../test/support/loop.ts";
import { subvolumes } from "./subject.ts";

const disk = mountFileSystem("btrfs", { megabytes: 400 });
afterAll(() => disk[Symbol.asyncDispose]());

await runConformance(kitRunner, subvolumes(disk.mountPoint));
