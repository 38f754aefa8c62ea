/** Defects in locks. */
export const LOCKS = [
  {
    name: "lock-of-a-replaced-file",
    file: "src/locks/file-lock.ts",
    text: "if (target.isStill(fd)) return fd;",
    replacement: "return fd;",
    tests: ["test/locks/file-lock.test.ts"],
    title: "between its opening and its locking",
  },
  {
    name: "writer-beside-readers",
    file: "src/locks/file-lock.ts",
    text: 'exclusive ? "exclusive" : "shared"',
    replacement: '"shared"',
    tests: ["test/locks/file-lock.test.ts"],
    title: "three processes",
  },
  {
    name: "last-come-first-served",
    file: "src/locks/lock-queue.ts",
    text: "queue.waiting.push(waiter);",
    replacement: "queue.waiting.unshift(waiter);",
    tests: ["test/locks/file-lock.test.ts"],
    title: "in the order they came",
  },
];
