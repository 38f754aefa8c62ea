import { expect, it } from "vitest";
import { addressOf, urlOf } from "../src/address.ts";

it("tells clients of every kind where the database is, and takes away what would lead elsewhere", () => {
  const url = "postgres://ann:p%40ss@db.example:5433/shop?sslmode=require";
  expect(addressOf(urlOf(url, "shop_coffer_1"))).toEqual({
    environment: {
      DATABASE_URL: "postgres://ann:p%40ss@db.example:5433/shop_coffer_1?sslmode=require",
      PGHOST: "db.example",
      PGPORT: "5433",
      PGUSER: "ann",
      PGPASSWORD: "p@ss",
      PGDATABASE: "shop_coffer_1",
      PGSSLMODE: "require",
      PGSERVICE: null,
      PGHOSTADDR: null,
    },
    needsNetwork: true,
  });
});

it("needs no network for a server that is reached by a socket", () => {
  const { environment, needsNetwork } = addressOf("postgres:///shop?host=/run/postgresql&user=ann");
  expect(environment).toMatchObject({ PGHOST: "/run/postgresql", PGDATABASE: "shop" });
  expect(environment).not.toHaveProperty("PGPASSWORD");
  expect(needsNetwork).toBe(false);
});
