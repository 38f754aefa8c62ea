import { sampleOf, samplePoints } from "../../support/sample-points.ts";

const [length = 0, most = 0, shift] = process.argv.slice(2).map(Number);
const points = Array.from({ length }, (_, at) => ({
  at: at + 1,
  call: "mkdir",
  paths: [],
  mainThread: true,
  creates: false,
  inChild: false,
}));
const sample = shift === undefined ? samplePoints(most)(points) : sampleOf(most, points, shift);
const chosen = sample.map(({ at }) => at);
process.stdout.write(`${JSON.stringify(chosen)}\n`);
