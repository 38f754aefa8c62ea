import { spawn } from "node:child_process";

/** `less` that ends by itself when all fits, keeps colours, and leaves the text on the screen. */
const USUAL_PAGER = "less -FRX";

/**
 * Shows lines through the user's pager where there is a terminal, and prints them otherwise. A pager that cannot be
 * started is done without; one that ends early has simply seen enough.
 */
export async function showPaged(lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  const text = `${lines.join("\n")}\n`;
  const pager = (process.env["PAGER"] ?? "").trim() || USUAL_PAGER;
  const isWanted = process.stdout.isTTY && process.env["TERM"] !== "dumb";
  if (!isWanted || pager === "cat" || !(await isPaged(pager, text))) process.stdout.write(text);
}

function isPaged(pager: string, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const restore = leaveSignalsToThePager();
    // The shell takes PAGER apart, as everywhere; only the user writes it.
    const child = spawn("/bin/sh", ["-c", pager], { stdio: ["pipe", "inherit", "inherit"] });
    const end = (isShown: boolean): void => {
      restore();
      resolve(isShown);
    };
    child.on("error", () => end(false));
    // 126 and 127 are the shell's own: there is no such program.
    child.on("close", (code) => end(code !== 126 && code !== 127));
    child.stdin.on("error", () => undefined);
    child.stdin.end(text);
  });
}

/** A pager takes Ctrl-C for itself. */
function leaveSignalsToThePager(): () => void {
  const listeners = process.listeners("SIGINT");
  const ignore = (): void => undefined;
  process.removeAllListeners("SIGINT");
  process.on("SIGINT", ignore);
  return () => {
    process.off("SIGINT", ignore);
    for (const listener of listeners) process.on("SIGINT", listener);
  };
}
