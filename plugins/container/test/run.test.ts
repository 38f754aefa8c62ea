import { writeFileSync } from "node:fs";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { UnsupportedStrategyError } from "cofferdam";
import { afterAll, describe, expect, it } from "vitest";
import { Site, shell } from "./site.ts";
import { IMAGE, TestEngine } from "./test-engine.ts";

const engine = new TestEngine();
afterAll(() => engine.close());

describe("a command in a container", () => {
  it("edits the directory in its sandbox and the system in a layer", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    const script = "pwd; cat page; echo new > page; echo tool > /etc/tool; exit 7";
    const first = await site.run(plan, script);
    expect(first).toMatchObject({ exitCode: 7, stdout: `${site.root}\nold\n`, stderr: "" });
    expect(first.surroundings).toEqual(["/etc/tool"]);
    expect(site.page()).toBe("old\n");
    const second = await site.run(plan, "cat page /etc/tool; echo complaint >&2");
    expect(second).toMatchObject({ exitCode: 0, stdout: "new\ntool\n", stderr: "complaint\n" });
    expect(second.surroundings).toEqual([]);
    await plan.commit();
    expect(site.page()).toBe("new\n");
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });

  it("sees nothing of the machine but what is shown to it", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    const { stdout } = await site.run(plan, `ls ${site.folder} ${site.stateDirectory} 2>&1; ls /`);
    expect(stdout).toContain(`${site.stateDirectory}: No such file`);
    expect(stdout).not.toContain("usr");
    await plan.cleanup();
  });

  it("gets the environment of the image, of the plan, and what was asked for of the caller's", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open({ environment: ["WANTED", "MY_*"] });
    const plan = await site.plan(cofferdam);
    const env = { WANTED: "a b", MY_ONE: "1", SECRET: "word", LANG: "C.UTF-8", PATH: "/nowhere" };
    const { stdout } = await site.run(plan, "env; echo > /etc/changed", { env });
    const lines = stdout.split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "COFFERDAM_PLAN=plan",
        "FROM_IMAGE=yes",
        "PATH=/bin",
        "WANTED=a b",
        "MY_ONE=1",
        "LANG=C.UTF-8",
      ]),
    );
    expect(stdout).not.toContain("SECRET");
    const [image = ""] = engine.left();
    const config = engine.ask("image", "inspect", "--format", "{{json .Config}}", image);
    expect(config).not.toContain("a b");
    expect(JSON.parse(config)).toMatchObject({ Cmd: ["sh"], WorkingDir: "/tmp" });
    await plan.cleanup();
  });

  it("reads its input, and says when its program is not there", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    writeFileSync(join(site.folder, "input"), "typed\n");
    const input = openSync(join(site.folder, "input"), "r");
    const output = openSync(join(site.folder, "output"), "w");
    const stdio = [input, output, "ignore"] as const;
    const done = await plan.run(["cat"], { cwd: site.root, stdio });
    for (const descriptor of stdio.slice(0, 2)) closeSync(Number(descriptor));
    expect(done).toMatchObject({ exitCode: 0, enclosed: { isEnclosed: true }, outside: null });
    expect(shell(site.folder, "cat output")).toBe("typed\n");
    const missing = await plan.run(["no-such-program"], {
      cwd: site.root,
      stdio: ["ignore", "ignore", "ignore"],
    });
    expect(missing.exitCode).not.toBe(0);
    await plan.cleanup();
  });

  it("starts where the sandbox is when the container has no such folder", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    const { stdout } = await site.run(plan, "pwd", { cwd: site.folder });
    expect(stdout).toBe(`${site.root}\n`);
    await plan.cleanup();
  });

  it("finds the other sandboxes of the plan at their real paths", async () => {
    const site = new Site(engine);
    shell(
      site.folder,
      `mkdir other repository; echo one > other/file; cd repository; echo two > tracked
       git init -qb main; git config user.name T; git config user.email t@example.invalid
       git add -A; git commit -qm first`,
    );
    await using cofferdam = await site.open();
    const [other, repository] = ["other", "repository"].map((name) => join(site.folder, name));
    const plan = await cofferdam.plan("plan", [
      { id: "other", type: "fs-directory", location: other ?? "" },
      { id: "site", type: "fs-directory", location: site.root, sandboxStrategy: "container" },
      { id: "repository", type: "git-repository", location: repository ?? "" },
    ]);
    const { stdout, surroundings } = await site.run(
      plan,
      `cat ${other}/file ${repository}/tracked
       git=$(sed 's/gitdir: //' ${repository}/.git); cat $git/commondir; ls $git/../../refs
       echo 1 > ${other}/file; echo 2 > ${repository}/tracked; echo 3 > page`,
    );
    expect(stdout).toBe("one\ntwo\n../..\nheads\ntags\n");
    expect(surroundings).toEqual([]);
    const views = Object.values((await plan.diff()).resources);
    expect(views.flatMap(({ changes }) => changes.map(({ path }) => path))).toEqual([
      "file",
      "page",
      "tracked",
    ]);
    await plan.commit();
    expect(shell(site.folder, "cat other/file repository/tracked site/page")).toBe("1\n2\n3\n");
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });

  it("does not run where two sandboxes would each have it in a container", async () => {
    const site = new Site(engine);
    shell(site.folder, "mkdir second; echo old > second/page");
    await using cofferdam = await site.open();
    const plan = await cofferdam.plan(
      "plan",
      ["site", "second"].map((id) => ({
        id,
        type: "fs-directory",
        location: join(site.folder, id),
        sandboxStrategy: "container",
      })),
    );
    await expect(site.run(plan, "echo new > page")).rejects.toBeInstanceOf(
      UnsupportedStrategyError,
    );
    const views = Object.values((await plan.diff()).resources);
    expect(views.flatMap(({ changes }) => changes)).toEqual([]);
    expect(engine.left()).toEqual([]);
    await plan.cleanup();
  });

  it("is ended by whoever has lost patience, and what it did so far is kept", async () => {
    const site = new Site(engine);
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    const patience = new AbortController();
    const script = "echo half > page; echo half > /etc/half; sleep 1000";
    const running = site.run(plan, script, { signal: patience.signal });
    await site.until(() => engine.ask("ps", "--format", "{{.Names}}") !== "");
    await site.until(async () => (await plan.sandbox("site").read("page")).length > 4);
    patience.abort();
    expect((await running).exitCode).toBe(137);
    expect((await site.run(plan, "cat page /etc/half")).stdout).toBe("half\nhalf\n");
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });

  it("begins with the image that the sandbox was made with, whatever its name means now", async () => {
    const site = new Site(engine);
    engine.ask("tag", IMAGE, "localhost/moving:1");
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam, { image: "localhost/moving:1" });
    await site.run(plan, "echo 1 > /etc/layer");
    const [layer = ""] = engine.left().filter((name) => name.includes("cofferdam"));
    engine.ask("tag", layer, "localhost/moving:1");
    await plan.rollback();
    expect((await site.run(plan, "cat /etc/layer")).exitCode).toBe(1);
    engine.ask("rmi", "localhost/moving:1");
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });
});
