import { expect, test } from "vitest";
import type { BytePath, RelativePath } from "../../../src/model/byte-path.ts";
import {
  applySteps,
  giveBack,
  reverseSteps,
  stageChanges,
  verifySteps,
} from "../../../src/tree/publish/index.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { EVERY_KIND, makeFixture, requestFor, run, shell } from "./fixture.ts";
import { commitAndUndo } from "./round-trip.ts";

const KINDS: Readonly<Record<string, string>> = {
  file: "printf content > x; chmod 640 x; touch -d '2001-02-03 04:05:06.789012345' x",
  emptyFolder: "mkdir x; chmod 711 x; touch -d '2002-02-03 04:05:06.789012345' x",
  fullFolder: [
    "mkdir -p x/deep/er; echo 1 > x/a; ln -s a x/l; echo 2 > x/deep/er/b; chmod 500 x/deep",
    "touch -d '2003-02-03 04:05:06.7' x/deep x; chmod 555 x",
  ].join("; "),
  linkToFile: "ln -s target x; touch -h -d '2004-02-03 04:05:06.5' x",
  linkToFolder: "ln -s folder x",
  brokenLink: "ln -s no/where x",
};

for (const [from, makeFrom] of Object.entries(KINDS)) {
  for (const [to, makeTo] of Object.entries(KINDS)) {
    for (const take of ["move", "clone"] as const) {
      test(`replaces ${from} by ${to} and brings it back, sources by ${take} (R40)`, () => {
        const fixture = makeFixture(
          `echo t > target; mkdir folder; ${makeFrom}; touch -d '2000-01-01 00:00:00.000000001' .`,
          `chmod -R u+w x 2> /dev/null || true; rm -rf x; ${makeTo}
           touch -h -d '2010-10-10 10:10:10.101010101' x .`,
        );
        commitAndUndo(fixture, take);
      });
    }
  }
}

for (const take of ["move", "clone"] as const) {
  test(`publishes edits of every kind and takes them back, sources by ${take} (R25, R33)`, () => {
    commitAndUndo(makeFixture(EVERY_KIND.base, EVERY_KIND.edit), take);
  });

  test(`keeps odd modes, nanosecond times and attributes, sources by ${take} (R166, R168)`, () => {
    const entries = [
      "for m in 400 500 711 640; do echo $1 > f$m; done",
      "for m in 500 711 555 750; do mkdir d$m; echo $1 > d$m/x; done",
      "setfattr -n user.note -v $1 f640; setfattr -n user.$1 -v '' d711",
      "setfacl -m u:1234:r,g:77:rw f640; setfacl -d -m u:1234:rx d711",
      'touch -d "19$2-03-04 05:06:07.123456$2" f* d*/* d* .',
      "for m in 400 500 711 640; do chmod $m f$m; done",
      "for m in 500 711 555 750; do chmod $m d$m; done",
    ].join("\n");
    const fixture = makeFixture(
      `set -- old 70; ${entries}\nchmod 750 .`,
      `set -- new 71; chmod 700 f* d*; rm -r f* d*; ${entries}\nchmod 710 .`,
    );
    commitAndUndo(fixture, take);
  });

  test(`handles names with newlines, dashes, 255 bytes and no UTF-8, sources by ${take} (R173)`, () => {
    const names = String.raw`$'new\nline' -dash "$(printf 'n%.0s' {1..255})" $'not\377utf8\201' ' ' '*' '\'`;
    const fixture = makeFixture(
      `for n in ${names}; do mkdir "./$n"; echo 1 > "./$n/$n"; ln -s -- "$n" "./$n/l"; done`,
      `for n in ${names}; do
         echo 22 > "./$n/$n"; rm "./$n/l"; mkdir "./$n/sub"; echo 3 > "./$n/sub/$n"; echo 4 > "./$n/4"
       done
       rm -r -- -dash; mv ' ' $'moved\xff'`,
    );
    commitAndUndo(fixture, take);
  });

  test(`keeps hard links among changed files and holes, sources by ${take} (R172)`, () => {
    const fixture = makeFixture(
      "echo 1 > a; ln a b; mkdir d; ln a d/c; truncate -s 10M sparse; echo other > z",
      `echo 22 >> a; ln a d/new; mkdir n; ln a n/x; echo 1 > n/p; ln n/p q
       printf x | dd of=sparse bs=1 seek=5000000 conv=notrunc status=none; ln -f z a2`,
    );
    const request = requestFor(fixture, take);
    // The real z did not change: its new name is a further name of the real file.
    const changes = request.changes
      .filter(({ path }) => path !== "z")
      .map((change) =>
        change.path === "a2" ? { ...change, linkTo: "z" as RelativePath } : change,
      );
    commitAndUndo(fixture, take, { ...request, changes });
    expect(Number(run("du", "-k", `${fixture.work}/sparse`).split("\t")[0])).toBeLessThan(100);
  });
}

test("makes a further name of an unchanged real file inside a new folder", () => {
  const fixture = makeFixture(
    "echo z > z",
    "mkdir -p n/o; ln z n/o/l; echo f > n/o/f; chmod 555 n/o",
  );
  const request = requestFor(fixture, "clone");
  const changes = request.changes
    .filter(({ path }) => path !== "z")
    .map((change) =>
      change.path === "n/o/l" ? { ...change, linkTo: "z" as RelativePath } : change,
    );
  commitAndUndo(fixture, "clone", { ...request, changes });
});

test("touches nothing but the changed paths (R38)", () => {
  const fixture = makeFixture(
    "mkdir -p a/b c; echo 1 > a/b/f; echo 2 > a/same; echo 3 > c/same; mkfifo a/b/fifo; ln -s x l",
    "echo 11 > a/b/f",
  );
  const look = (): string => run("find", fixture.root, "-printf", "%p %i %C@ %T@\n");
  const untouched = (listing: string): string[] =>
    listing.split("\n").filter((line) => !/root\/a\/b(?:\/f)? /.test(line));
  const before = look();
  const request = requestFor(fixture);
  stageChanges(request);
  expect(look()).toBe(before);
  applySteps(request);
  expect(untouched(look())).toEqual(untouched(before));
  reverseSteps(request);
  expect(untouched(look())).toEqual(untouched(before));
  expect(run("stat", "-c", "%F", `${fixture.root}/a/b/fifo`)).toBe("fifo\n");
});

test("takes an unlisted FIFO along with its removed folder and brings it back (R169)", () => {
  const fixture = makeFixture("mkdir d; echo 1 > d/f; mkfifo d/fifo", "rm -r d");
  commitAndUndo(fixture, "clone");
});

test("tells after giving back what each touched path now stands on", () => {
  const fixture = makeFixture(
    "echo 1 > f; mkdir -p d/e; echo 2 > d/e/g",
    "echo 11 > f; rm -r d; mkdir n; echo 3 > n/x",
  );
  const request = requestFor(fixture, "move");
  stageChanges(request);
  applySteps(request);
  reverseSteps(request);
  const { base } = giveBack(request);
  const known = [...base].map(([path, identity]) => `${path} ${identity?.ino ?? "none"}`).sort();
  const inodes = run("find", fixture.root, "-printf", "%P %i\n").trimEnd().split("\n");
  expect(known).toEqual([...inodes, "n none", "n/x none"].sort());
});

test("changes only the one name of a single-file resource", () => {
  const fixture = makeFixture("echo 1 > f; echo 2 > g", "echo 11 > f");
  const changes = requestFor(fixture).changes.filter(({ path }) => path === "f");
  const request = requestFor(fixture, "clone", { only: "f" as BytePath, changes });
  const old = takeOracle(fixture.root);
  stageChanges(request);
  expect(verifySteps(request)).toEqual([]);
  expect(applySteps(request).failure).toBeNull();
  expect(shell(fixture.root, "cat f g")).toBe("11\n2\n");
  reverseSteps(request);
  expectOracleEqual(old, takeOracle(fixture.root));
});

test("keeps an excluded path and the removed folder around it", () => {
  const fixture = makeFixture(
    "mkdir -p d/cache d/e; echo 1 > d/cache/big; echo 2 > d/e/f; echo 3 > d/g",
    "rm -r d",
  );
  const request = requestFor(fixture, "clone", { exclude: ["d/cache" as RelativePath] });
  const changes = request.changes.filter(({ path }) => !path.startsWith("d/cache"));
  const old = takeOracle(fixture.root);
  stageChanges({ ...request, changes });
  expect(verifySteps(request)).toEqual([]);
  expect(applySteps(request).failure).toBeNull();
  expect(run("find", `${fixture.root}/d`, "-printf", "%P\n").trim().split("\n")).toEqual(
    ["", "cache", "cache/big"].slice(1),
  );
  reverseSteps(request);
  expectOracleEqual(old, takeOracle(fixture.root));
});

test("takes overlay marks off what is published and puts them back with the file", () => {
  const fixture = makeFixture(
    "echo 1 > f",
    "echo 11 > f; setfattr -n user.overlay.origin -v secret f; setfattr -n user.kept -v yes f",
  );
  const marked = run("getfattr", "-d", "-m", "-", "--absolute-names", `${fixture.work}/f`);
  const request = requestFor(fixture, "move");
  stageChanges(request);
  applySteps(request);
  expect(run("getfattr", "-d", "-m", "-", `${fixture.root}/f`)).not.toContain("overlay");
  expect(run("getfattr", "-d", "-m", "-", `${fixture.root}/f`)).toContain('user.kept="yes"');
  reverseSteps(request);
  giveBack(request);
  expect(run("getfattr", "-d", "-m", "-", "--absolute-names", `${fixture.work}/f`)).toBe(marked);
});
