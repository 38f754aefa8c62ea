import { execFileSync } from "node:child_process";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { touchedPaths } from "../src/send-stream.ts";
import { BtrfsDisk } from "./btrfs-disk.ts";
import { Differences } from "./differences.ts";
import { RandomEdits } from "./random-edits.ts";

const MINUTE = 60_000;
const TREE = `
  mkdir -p one/inner/deep two/inner three empty full/of
  for folder in one one/inner one/inner/deep two two/inner three full full/of; do
    for file in a b c; do echo "$folder $file" > $folder/$file; done
  done
  echo old > file; echo old > other; ln -s target link
  echo linked > name1; ln name1 name2; ln name1 three/name3
`;
const ODD = "\"$(printf 'line\\nbreak')\" 'two  words' \"$(printf 'no\\377utf\\376')\"";

let disk: BtrfsDisk;

beforeAll(() => {
  disk = new BtrfsDisk();
}, MINUTE);

afterAll(() => disk.close(), MINUTE);

function shell(folder: string, script: string): void {
  execFileSync("sh", ["-ec", script], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
}

interface Sent {
  readonly stream: Buffer;
  readonly differences: Differences;
}

function sentAfter(work: string, edit: () => void, options: readonly string[] = []): Sent {
  const before = disk.snapshot(work);
  edit();
  const after = disk.snapshot(work);
  const stream = disk.send(before, after, options);
  return { stream, differences: new Differences(before, after) };
}

function edited(base: string, edit: string, options: readonly string[] = []): Sent {
  const work = disk.subvolume();
  shell(work, base);
  return sentAfter(work, () => shell(work, edit), options);
}

function textsOf(stream: Buffer): Set<string> {
  return new Set(touchedPaths(stream).map((path) => path.toString("latin1")));
}

const EDITS: [string, string][] = [
  ["a file is edited", "echo new > file"],
  [
    "an edit leaves size and time as they were",
    "touch -r file t; echo neu > file; touch -r t file",
  ],
  ["a file grows", "echo more >> one/inner/a"],
  ["a file is cut", "truncate -s 1 one/a; truncate -s 0 one/b; truncate -s 9000 one/c"],
  ["space in a file is given back", "fallocate -p -l 4 file; fallocate -l 100000 other"],
  ["permissions change", "chmod 600 file one; chmod 1777 ."],
  ["owners change", "chown 7:8 file one/inner; chown -h 7:8 link"],
  ["attributes change", "setfattr -n user.one -v 1 file; setfattr -n user.two -v 2 one/inner"],
  ["flags change", "chattr +d file; chattr +C empty"],
  ["only a time changes", "touch -d 2001-01-01 file one; touch -h -d 2001-01-01 link"],
  ["files are new", "echo new > new; : > one/new; mkfifo pipe; mknod device c 1 3"],
  ["deep folders are new", "mkdir -p new/deep/er one/new; echo 1 > new/deep/er/file; : > new/f"],
  ["files are gone", "rm file one/a two/inner/*"],
  ["folders are gone", "rmdir empty; rm -r one full"],
  ["files are renamed", "mv file renamed; mv one/a two/moved; mv one/b one/c"],
  ["a folder is renamed and then edited", "mv one moved; echo new > moved/inner/a; rm moved/b"],
  ["a folder is edited and then renamed", "echo new > one/inner/a; rm one/b; mv one moved"],
  ["two folders are swapped", "mv one t; mv two one; mv t two; echo new > one/a; rm two/inner/b"],
  ["three folders go round", "mv one t; mv two one; mv three two; mv t three; : > two/new"],
  ["a renamed folder goes into a renamed one", "mv two zwei; mv one zwei/eins; : > zwei/eins/a"],
  ["a folder and one in it change places", "mv one/inner i; mv one i/one; mv i one; : > one/a"],
  ["a removed folder is made again", "rm -r one; mkdir -p one/inner; echo new > one/inner/a"],
  ["another folder takes the place of one", "rm -r one; mv two one; echo new > one/inner/a"],
  ["all leave a folder that goes", "mv one/inner two/of-one; mv one/a two/a; rm -r one"],
  ["a file becomes a folder", "rm file; mkdir file; echo in > file/in"],
  ["a folder becomes a file", "rm -r one; echo one > one"],
  ["a file is a folder for a while", "rm file; mkdir file; rmdir file; echo old > file"],
  ["a link points elsewhere", "ln -sfn /etc/passwd link; ln -s ../../up one/up"],
  ["files get further names", "ln file one/file; ln name1 full/name4"],
  ["files lose a name", "rm name1; mv three/name3 one/name3"],
  ["a file of several names is edited by one", "echo new >> three/name3"],
  ["a file of several names is edited where one moved", "mv three drei; echo new >> name2"],
  ["several names become several files", "cp name1 t; mv t name1; echo new > name2"],
  [
    "names are odd",
    `for n in ${ODD}; do mkdir "$n"; echo 1 > "$n/$n"; mv "$n/$n" "one/$n"; done; mv one "$n"`,
  ],
  ["names look like those of btrfs", "mv one o257-7-0; mkdir o300-7-0; mv file o300-7-0/o258-7-0"],
];

describe("the paths of a send stream", { timeout: MINUTE }, () => {
  it.each(EDITS)("tell where the snapshots differ when %s", (_, edit) => {
    const { stream, differences } = edited(TREE, edit);
    expect(differences.paths()).not.toEqual([]);
    expect(differences.missingIn(textsOf(stream))).toEqual([]);
  });

  it("are the same in the second version of the format", () => {
    const edit = "mv one moved; echo new > moved/a; chattr +C empty; ln file f; rm -r two";
    const { stream, differences } = edited(TREE, edit, ["--proto", "2"]);
    expect(stream.readUInt32LE("btrfs-stream\0".length)).toBe(2);
    expect(differences.missingIn(textsOf(stream))).toEqual([]);
  });

  it("are none when nothing changed, and never the name of the snapshot or the target of a link", () => {
    expect(touchedPaths(edited(TREE, ":").stream)).toEqual([]);
    const paths = textsOf(edited(TREE, "ln -s /etc/passwd new").stream);
    expect([...paths].filter((path) => !/^o\d+-\d+-0$/.test(path)).toSorted()).toEqual(["", "new"]);
  });

  it("hold all that btrfs reads in the stream, names for a moment too", () => {
    const edit =
      "mv one t; mv two one; mv t two; ln one/a one/link; ln name1 full/name4; rm -r full/of";
    const { stream } = edited(TREE, edit);
    const dump = execFileSync("btrfs", ["receive", "--dump"], { input: stream, encoding: "utf8" });
    const named = [...dump.matchAll(/\.\/\d+\/(\S*)/g), ...dump.matchAll(/^link .* dest=(\S*)/gm)];
    const read = named.map(([, path = ""]) => path);
    expect(read).toEqual(expect.arrayContaining(["", "one/link", "one/a", "full/name4"]));
    expect(read.filter((path) => /^o\d+-\d+-0$/.test(path))).not.toEqual([]);
    expect([...textsOf(stream)]).toEqual(expect.arrayContaining(read));
  });

  it("are bytes, whatever they mean", () => {
    const { stream } = edited("", `for name in ${ODD}; do : > "$name"; done`);
    const paths = touchedPaths(stream).map((path) => path.toString("hex"));
    for (const name of ["line\nbreak", "two  words", "no\xffutf\xfe"]) {
      expect(paths).toContain(Buffer.from(name, "latin1").toString("hex"));
    }
  });

  it("name what is edited in a moved folder by its old and its new path", () => {
    const { stream } = edited(TREE, "mv one two/eins; mv two zwei; echo new > zwei/eins/inner/a");
    const paths = textsOf(stream);
    expect(paths).toContain("one/inner/a");
    expect(paths).toContain("zwei/eins/inner/a");
  });

  it("name one of the names of an edited file", () => {
    const paths = textsOf(edited(TREE, "echo new >> name2").stream);
    expect(["name1", "name2", "three/name3"].some((name) => paths.has(name))).toBe(true);
  });

  it("name the folder of a subvolume inside that comes, moves or goes", () => {
    const base = `${TREE} btrfs subvolume create one/old; btrfs subvolume create two/old`;
    const edit = `btrfs subvolume create empty/new; btrfs subvolume delete one/old; mv two/old three`;
    const paths = textsOf(edited(base, edit).stream);
    expect([...paths].toSorted()).toEqual(["empty", "one", "three", "two"]);
  });

  it("tell of a folder that was removed and made again, mostly under the same number", () => {
    const work = disk.subvolume();
    // The folder is made last, since only the highest numbers are given again, unless somebody holds the old mount.
    shell(work, "echo 1 > gone; echo 1 > linked; mkdir last; mv gone last; ln linked last/linked");
    const { stream, differences } = sentAfter(work, () => {
      shell(work, "rm -r last");
      disk.remount();
      shell(work, "mkdir last; echo 1 > last/new; ln linked last/linked");
    });
    expect(differences.paths()).toContain("last/gone");
    expect(differences.missingIn(textsOf(stream))).toEqual([]);
  });

  it("tell of 2,000 renamed files in a folder that is renamed too", () => {
    const work = disk.subvolume();
    const numbers = Array.from({ length: 2000 }, (_, at) => String(at));
    shell(work, "mkdir many; cd many; seq 0 1999 | xargs touch");
    const { stream, differences } = sentAfter(work, () => {
      for (const name of numbers)
        renameSync(join(work, "many", name), join(work, "many", `+${name}`));
      renameSync(join(work, "many"), join(work, "all"));
    });
    const paths = textsOf(stream);
    const wanted = numbers.flatMap((name) => [`many/${name}`, `all/+${name}`]);
    expect(wanted.filter((path) => !paths.has(path))).toEqual([]);
    expect(differences.missingIn(paths)).toEqual([]);
  });

  it.each([1, 2, 3])("tell where the snapshots differ after random edits (seed %i)", (seed) => {
    const work = disk.subvolume();
    shell(work, TREE);
    const edits = new RandomEdits(work, seed);
    for (let round = 0; round < 10; round += 1) {
      const { stream, differences } = sentAfter(work, () => {
        edits.make(20);
        if (round % 3 === 0) disk.remount();
        edits.make(20);
      });
      expect(differences.paths()).not.toEqual([]);
      expect(differences.missingIn(textsOf(stream))).toEqual([]);
    }
  });
});

describe("a damaged send stream", { timeout: MINUTE }, () => {
  const sent = (): Buffer => edited(TREE, "mv one moved; echo new > moved/a; rm file").stream;
  /** Of the reader itself, not one of a read beyond the end of the bytes. */
  const refusal: unknown = expect.objectContaining({ name: "Error" });

  function refusalOf(stream: Buffer): unknown {
    try {
      return touchedPaths(stream);
    } catch (error) {
      return error;
    }
  }

  it("is refused wherever it is cut off", () => {
    const stream = sent();
    for (let length = 0; length < stream.length; length += 1) {
      expect(refusalOf(stream.subarray(0, length))).toEqual(refusal);
    }
  });

  it("is refused when it goes on after its end", () => {
    const stream = sent();
    expect(refusalOf(Buffer.concat([stream, stream]))).toEqual(refusal);
  });

  it("is refused when it moves a folder into itself", () => {
    const { stream } = edited("mkdir abc", "mv abc defgh");
    stream.write("abc/d", stream.indexOf("defgh"), "latin1");
    expect(refusalOf(stream)).toEqual(refusal);
  });

  it.each([
    ["its beginning", 0, 0x42],
    ["its version", 13, 3],
    ["its version, being nought,", 13, 0],
    ["a command", 21, 99],
    ["the length of an attribute", 29, 0xff],
  ])("is refused when %s is wrong", (_, at, byte) => {
    const stream = sent();
    stream[at] = byte;
    expect(refusalOf(stream)).toEqual(refusal);
  });
});
