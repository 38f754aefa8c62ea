import { samplePoints } from "../../support/sample-points.ts";

const [length = 0, most = 0] = process.argv.slice(2).map(Number);
const points = Array.from({ length }, (_, at) => ({
  at: at + 1,
  call: "mkdir",
  paths: [],
  mainThread: true,
}));
const chosen = samplePoints(most)(points).map(({ at }) => at);
process.stdout.write(`${JSON.stringify(chosen)}\n`);
