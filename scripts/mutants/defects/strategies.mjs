/** Defects in strategies. */
export const STRATEGIES = [
  {
    name: "opaque-folder-shows-what-is-below",
    file: "src/strategies/overlay/marks.ts",
    text: 'isOpaque: opaque === "y" ||',
    replacement: 'isOpaque: opaque === "n" ||',
    tests: ["test/strategies/overlay/marks.root.test.ts"],
    title: "opaque folders",
  },
  {
    name: "redirect-leads-out-of-the-layers",
    file: "src/strategies/overlay/marks.ts",
    text: 'part !== "" && part !== "." && part !== ".."',
    replacement: 'part !== "" && part !== "."',
    tests: ["test/strategies/overlay/marks.root.test.ts"],
    title: "leads out",
  },
  {
    name: "any-device-taken-for-a-whiteout",
    file: "src/strategies/overlay/marks.ts",
    text: "return stat.rdevMajor === 0 && stat.rdevMinor === 0;",
    replacement: "return true;",
    tests: ["test/strategies/overlay/marks.root.test.ts"],
    title: "reads whiteouts and opaque",
  },
  {
    name: "checkpoints-keep-an-old-base",
    file: "src/strategies/copy/copy-workspace.ts",
    text: "[folder, ...checkpointFolders(place)]",
    replacement: "[folder]",
    tests: ["test/strategies/checkpoints.test.ts"],
    title: "committed after the undo",
  },
];
