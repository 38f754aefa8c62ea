import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type SandboxError, SandboxCreationError, openCofferdam } from "cofferdam";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../test/support/temp.ts";
import { configurationOf } from "./configuration.ts";
import { useServer } from "./server.ts";
import { Site } from "./site.ts";

const served = useServer();

describe("no sandbox is made", () => {
  it.each(["never", "Suspended"] as const)(
    "of a bucket whose versions are kept: %s; the error tells how to keep them",
    async (versioning) => {
      const site = await Site.make(served());
      const bucket = await served().buckets.make({ "a.txt": "x" }, versioning);
      await using cofferdam = await site.open();
      const resource = { resourceId: "r", type: "bucket", location: `s3://${bucket}` };
      const creating = cofferdam.create("plan", resource);
      await expect(creating).rejects.toBeInstanceOf(SandboxCreationError);
      await expect(creating).rejects.toMatchObject({
        data: { stage: "versioning" },
        hint: expect.stringContaining("put-bucket-versioning") as unknown,
      });
    },
  );

  it.each([
    "/a/path",
    "bucket",
    "s3://",
    "s3://UPPER",
    "s3://bucket//x",
    "s3://bucket/../x",
    "https://bucket",
  ])("of a location that is none: %s", async (location) => {
    const site = await Site.make(served());
    await using cofferdam = await site.open();
    const creating = cofferdam.create("plan", { resourceId: "r", type: "bucket", location });
    await expect(creating).rejects.toMatchObject({ data: { stage: "resource" } });
  });

  it("of a part of a bucket that the plan has already, or of one around it", async () => {
    const site = await Site.make(served());
    await using cofferdam = await site.open();
    const at = (id: string, prefix: string) => ({
      id,
      type: "bucket",
      location: `s3://${site.bucket}${prefix}`,
    });
    const planning = (name: string, first: string, second: string) =>
      cofferdam.plan(name, [at("first", first), at("second", second)]);
    const overlap = { data: { stage: "overlap" } };
    await expect(planning("one", "", "/docs")).rejects.toMatchObject(overlap);
    await expect(planning("two", "/docs/deep", "/docs/")).rejects.toMatchObject(overlap);
    const beside = await planning("three", "/docs", "/docs2");
    await beside.cleanup();
  });

  it("without a server, or with credentials that it does not know", async () => {
    const site = await Site.make(served());
    const { credentialsFile, endpoint, keyId } = served().server;
    const wrong = join(site.folder, "wrong");
    const keys = `aws_access_key_id = ${keyId}\naws_secret_access_key = not-the-secret`;
    writeFileSync(wrong, `[default]\n${keys}\n`);
    const reached = [
      { endpoint: "http://127.0.0.1:1", credentialsFile },
      { endpoint, credentialsFile: wrong },
      { endpoint, credentialsFile: join(site.folder, "missing") },
    ];
    const reasons: unknown[] = [];
    for (const one of reached) {
      const folder = tempFolder();
      const config = join(folder, "cofferdam.yaml");
      writeFileSync(config, configurationOf(one));
      const stateDirectory = join(folder, "state");
      await using cofferdam = await openCofferdam({ stateDirectory, config });
      const creating = site.sandbox(cofferdam);
      await expect(creating).rejects.toBeInstanceOf(SandboxCreationError);
      const error = (await creating.catch((thrown: unknown) => thrown)) as SandboxError;
      reasons.push((error.cause as SandboxError<{ reason: string }>).data.reason);
      expect(JSON.stringify(error)).not.toContain("not-the-secret");
    }
    expect(reasons).toEqual(["unreachable", "denied", "denied"]);
  });
});

describe("the options", () => {
  it.each([
    { endpoint: "ftp://server" },
    { endpoint: "http://user:secret@server" },
    { endpiont: "http://server" },
    { credentials_file: "relative" },
    { path_style: "yes" },
    { content_types: ["html"] },
    { region: 1 },
  ])("are refused before they are used: %j", async (options) => {
    const { ObjectStoreStrategy } = await import("../src/strategy.ts");
    await using cofferdam = await openCofferdam({ stateDirectory: join(tempFolder(), "state") });
    const register = async (): Promise<unknown> =>
      cofferdam.registry.register("object_store", ObjectStoreStrategy, { options });
    await expect(register()).rejects.toMatchObject({ code: "STRATEGY_VALIDATION" });
    const error = (await register().catch((thrown: unknown) => thrown)) as SandboxError;
    expect(JSON.stringify(error)).not.toContain("secret");
  });
});

describe("credentials", () => {
  it("reach nothing that is written down or told (R238)", async () => {
    const site = await Site.make(served());
    const { secret } = served().server;
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.write("a.txt", "new\n");
    await sandbox.checkpoint("kept");
    const told = [JSON.stringify(sandbox.ref), JSON.stringify(await sandbox.commit())];
    await served().server.halt();
    try {
      const undoing = sandbox.rollback().catch((thrown: unknown) => thrown);
      told.push(JSON.stringify(await undoing));
    } finally {
      await served().server.resume();
    }
    const search = ["-rlF", "--", secret, site.stateDirectory];
    const found = execFileSync("sh", ["-c", 'grep "$@" || true', "sh", ...search]);
    expect(found.toString()).toBe("");
    expect(told.join("\n")).not.toContain(secret);
  });
});
