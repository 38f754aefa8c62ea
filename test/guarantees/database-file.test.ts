import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSite } from "./site.ts";

/** One page, with the beginning by which every program recognises a SQLite database. */
const DATABASE = "SQLite format 3".padEnd(512, "\0");

test.for(["-wal", "-journal"])(
  "refuses to publish over a database that is in use, told by its %s file",
  async (suffix) => {
    const { cofferdam, shop } = await openSite({ "shop.db": DATABASE, [`shop.db${suffix}`]: "" });
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", shop));
    await sandbox.write("shop.db", `${DATABASE}changed`);
    await sandbox.write("other", "text");
    await expect(sandbox.commit()).rejects.toMatchObject({
      code: "DATABASE_IN_USE",
      data: { path: "shop.db" },
    });
    expect(readFileSync(join(shop, "shop.db"), "utf8")).toBe(DATABASE);
    expect(await cofferdam.status(sandbox.ref)).toBe("ACTIVE");

    rmSync(join(shop, `shop.db${suffix}`));
    await sandbox.commit();
    expect(readFileSync(join(shop, "shop.db"), "utf8")).toBe(`${DATABASE}changed`);
  },
);

test("a database that nobody uses is a file like any other", async () => {
  const { cofferdam, shop } = await openSite({ "shop.db": DATABASE });
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", shop));
  await sandbox.write("shop.db", `${DATABASE}changed`);
  await sandbox.commit();
  expect(readFileSync(join(shop, "shop.db"), "utf8")).toBe(`${DATABASE}changed`);
});
