import type { CommandRequest } from "cofferdam";
import { describe, expect, it } from "vitest";
import { readSettings } from "../src/container-options.ts";
import { createArguments } from "../src/create-arguments.ts";
import { systemChanges } from "../src/system-changes.ts";

const REQUEST: CommandRequest = {
  argv: ["make", "--all"],
  cwd: "/srv/site",
  environment: {},
  planEnvironment: {},
  terminal: false,
  network: true,
  folders: [{ location: "/srv/site", workspace: "/state/w" }],
};

function argumentsFor(request: Partial<CommandRequest>, options = {}): string[] {
  const settings = readSettings(options);
  const names = { name: "c", sandboxId: "s", image: "sha256:1", location: "/srv/site" };
  return createArguments({ ...names, settings, request: { ...REQUEST, ...request } }, ["TERM"]);
}

describe("the arguments for a container", () => {
  it("leave the network to the engine, unless there is to be none", () => {
    expect(argumentsFor({})).not.toContain("--network");
    expect(argumentsFor({ network: false }).join(" ")).toContain("--network none");
  });

  it("ask for a terminal where there is one, and for the user that was named", () => {
    expect(argumentsFor({})).not.toContain("--tty");
    expect(argumentsFor({ terminal: true })).toContain("--tty");
    expect(argumentsFor({}, { user: "1000" }).join(" ")).toContain("--user 1000");
  });

  it("end with the image and the command", () => {
    expect(argumentsFor({}).slice(-3)).toEqual(["sha256:1", "make", "--all"]);
  });

  it("show a folder with a colon in its name, and refuse what no engine could be told", () => {
    const folders = [{ location: "/srv/a:b", workspace: "/state/w" }];
    expect(argumentsFor({ folders })).toContain("type=bind,source=/state/w,destination=/srv/a:b");
    const impossible = [{ location: "/srv/a:b,c", workspace: "/state/w" }];
    expect(() => argumentsFor({ folders: impossible })).toThrowError(
      expect.objectContaining({ code: "PLATFORM_UNSUPPORTED" }) as Error,
    );
  });
});

describe("what a command changed in a system", () => {
  it("is neither the folders around it nor the places that were made for it", () => {
    const text =
      "C /etc\nA /etc/tool\nC /etc/hosts\nA /srv\nA /srv/site\nD /bin/vi\nC /bin\nC /var";
    expect(systemChanges(text, ["/srv/site"])).toEqual({
      all: 8,
      own: ["/etc/tool", "/bin/vi", "/var"],
    });
    expect(systemChanges("", [])).toEqual({ all: 0, own: [] });
  });
});
