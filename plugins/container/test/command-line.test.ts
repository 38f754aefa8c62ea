import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Home, coffer, makeHome } from "../../../test/cli/coffer.ts";
import { KEYS, startInTerminal } from "../../../test/cli/pseudo-terminal.ts";
import { TestEngine } from "./test-engine.ts";

const engine = new TestEngine();
afterAll(() => engine.close());

/** A project whose configuration says that its directory is worked on in a container. */
function makeProject(): Home {
  const home = makeHome({ "site/page": "old\n" });
  const resource = { type: "fs-directory", location: "./site", strategy: "container" };
  const text = `${engine.configurationText()}resources: ${JSON.stringify({ site: resource })}\n`;
  writeFileSync(join(home.project, "cofferdam.yaml"), text);
  return home;
}

describe("coffer", () => {
  it("runs commands in the container, and tells what they changed in its system", () => {
    const home = makeProject();
    expect(coffer(home, ["open", "plan", "-r", "site"]).code).toBe(0);
    const script = "echo new > page; echo 1 > /etc/tool; exit 3";
    const cwd = join(home.project, "site");
    const first = coffer(home, ["exec", "plan", "--", "sh", "-c", script], { cwd });
    expect(first.code).toBe(3);
    expect(first.stderr).toContain("/etc/tool");
    const args = ["exec", "plan", "--json", "--no-network", "--", "cat", "page", "/etc/tool"];
    const second = coffer(home, args, { cwd });
    expect(second.stderr).toBe("new\n1\n");
    expect(JSON.parse(second.stdout)).toMatchObject({ exitCode: 0, surroundings: [] });
    expect(coffer(home, ["diff", "plan"]).stdout).toContain("+new");
    expect(coffer(home, ["commit", "plan"]).code).toBe(0);
    expect(coffer(home, ["clean", "plan"]).code).toBe(0);
    expect(engine.left()).toEqual([]);
  });

  it("starts a shell of the container where yours is not there, with a marked prompt", async () => {
    const home = makeProject();
    expect(coffer(home, ["open", "plan", "-r", "site"]).code).toBe(0);
    const terminal = startInTerminal(home, ["shell", "plan"], { env: { SHELL: "/bin/bash" } });
    await terminal.sees("(coffer plan) ");
    terminal.type("ls $PWD; exit 4\n");
    await terminal.sees("page");
    expect(await terminal.ended()).toBe(4);
    expect(coffer(home, ["clean", "plan"]).code).toBe(0);
  });

  it("gives a shell in the container a terminal, with Ctrl-C and the end of the input", async () => {
    const home = makeProject();
    expect(coffer(home, ["open", "plan", "-r", "site"]).code).toBe(0);
    const terminal = startInTerminal(home, ["exec", "plan", "--", "sh"]);
    await terminal.sees("# ");
    terminal.type("tty; echo at $PWD\n");
    await terminal.sees("/dev/pts/");
    await terminal.sees(`at ${home.project}/site`);
    terminal.type("echo going to $((3 + 4)); sleep 7777\n");
    await terminal.sees("going to 7");
    terminal.type(KEYS.interrupt);
    terminal.type("echo still $((1 + 1)) here\n");
    await terminal.sees("still 2 here");
    terminal.type("exit 5\n");
    expect(await terminal.ended()).toBe(5);
    expect(coffer(home, ["clean", "plan", "--force"]).code).toBe(0);
    expect(engine.left()).toEqual([]);
  });
});
