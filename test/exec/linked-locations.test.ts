import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openExecSite } from "./site.ts";

it.each([
  ["directory", "discard"],
  ["directory", "allow"],
  ["file", "discard"],
] as const)(
  "a %s whose location is an absolute link is shown by the link and at its own place (outside %s)",
  async (kind, outside) => {
    const { project, plan, run } = await openExecSite((home) => {
      const [real, link] = [join(home, "project/real"), join(home, "project/link")];
      mkdirSync(real);
      writeFileSync(join(real, "f"), "first\n");
      symlinkSync(kind === "file" ? join(real, "f") : real, link);
      return [{ id: "linked", type: kind === "file" ? "fs-file" : "fs-directory", location: link }];
    });
    const byLink = kind === "file" ? "link" : "link/f";
    const ran = await run(`echo by link >> ${byLink}; echo by place >> real/f; cat ${byLink}`, {
      outside,
    });
    expect(ran.stdout).toBe("first\nby link\nby place\n");
    expect(readFileSync(join(project, "real/f"), "utf8")).toBe("first\n");
    expect((await plan.diff()).resources["linked"]?.changes).toMatchObject([{ kind: "modified" }]);
    await plan.commit();
    expect(readFileSync(join(project, "real/f"), "utf8")).toBe(ran.stdout);
  },
);
