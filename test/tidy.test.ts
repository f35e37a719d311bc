// The house style, as a test on the whole repository. The checks themselves are in tidy/, where
// their own tests show that each is able to fail; here are only the lists of what is exempt, with
// the reason.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import {
  checkColumns,
  checkComments,
  checkDeadFiles,
  checkExports,
  checkHeaders,
  checkLockfile,
  checkPurity,
  checkSizes,
  checkSpecNumbers,
  checkTests,
  checkWords,
  commentsOnly,
  isGenerated,
  type Exemption,
} from "./tidy/checks.ts";
import { checkLayers, parseLayerTable } from "./tidy/layers.ts";
import { filesUnder, readSources } from "./tidy/source.ts";

/** `.oxlintrc.json` needs the same exemption from `max-lines`. */
const LONGER_FILES: Record<string, Exemption> = {};

/** Files of src that something outside src starts or imports. */
const ENTRY_POINTS: Record<string, string> = {
  "src/cli/main.ts": "loaded by cadastre.cjs, the binary",
  "src/client/index.ts": "the public entry point cadastre/client",
  "src/fence/index.ts": "the public entry point cadastre/fence",
  "src/testing/index.ts": "the public entry point cadastre/testing",
  "src/raft/invariants.ts": "run after every step by tests and the simulator",
  "src/machine/root/invariants.ts": "run after every entry by tests and the simulator",
  "src/machine/shard/invariants.ts": "run after every entry by tests and the simulator",
};

/** Prose and configuration that people read, beside src and test. */
const OTHER_TEXTS = [
  "README.md",
  "CHANGELOG.md",
  "package.json",
  "docker-compose.yml",
  "tsconfig.json",
  ".npmrc",
  ".gitignore",
  ".oxlintrc.json",
  ".oxfmtrc.json",
  ".ci",
  "deploy",
  "docs",
  "proto",
];

const root = fileURLToPath(new URL("..", import.meta.url));
const isCode = (file: string): boolean => /\.(ts|mjs|cjs)$/.test(file) && !isGenerated(file);
const isTypeScript = (file: string): boolean => file.endsWith(".ts") && !isGenerated(file);
const isFixture = (file: string): boolean => file.startsWith("test/fixtures/");

const source = readSources(root, ["src"], isCode);
const typed = source.filter((one) => isTypeScript(one.path));
const tests = readSources(root, ["test"], (file) => isTypeScript(file) && !isFixture(file));

function read(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

test("imports between folders follow the table in ARCHITECTURE.md", () => {
  expect(checkLayers(typed, parseLayerTable(read("src/ARCHITECTURE.md")))).toEqual([]);
});

test("every source file starts by saying what it owns", () => {
  expect(checkHeaders(source)).toEqual([]);
});

test("files have at most 400 lines, tests 600", () => {
  expect(checkSizes([...source, ...tests], LONGER_FILES)).toEqual([]);
});

test("lines have at most 100 columns", () => {
  expect(checkColumns([...source, ...tests])).toEqual([]);
});

test("there are no default exports, and no barrels but the public entry points", () => {
  expect(checkExports([...typed, ...tests])).toEqual([]);
});

test("raft and machine use no clock, randomness, IO, locale or async", () => {
  expect(checkPurity(typed)).toEqual([]);
});

test("comments hold no plans and no code", () => {
  expect(checkComments([...source, ...tests])).toEqual([]);
});

test("no file of src is dead", () => {
  expect(checkDeadFiles(typed, ENTRY_POINTS)).toEqual([]);
});

test("raft's invariants and its SPEC number the same things", () => {
  const file = "src/raft/SPEC.md";
  if (!existsSync(path.join(root, "src/raft"))) return;
  expect(
    checkSpecNumbers({
      name: file,
      prefixes: ["R"],
      spec: read(file),
      invariants: read("src/raft/invariants.ts"),
    }),
  ).toEqual([]);
});

test("the machines' invariants and their SPEC number the same things", () => {
  const file = "src/machine/SPEC.md";
  if (!existsSync(path.join(root, "src/machine"))) return;
  const invariants = typed.filter((one) => /^src\/machine\/.*invariants\.ts$/.test(one.path));
  expect(
    checkSpecNumbers({
      name: file,
      prefixes: ["MR", "MS"],
      spec: read(file),
      invariants: invariants.map((one) => one.text).join("\n"),
    }),
  ).toEqual([]);
});

test("no test is skipped, and no unit test waits", () => {
  expect(checkTests(tests)).toEqual([]);
});

test("no file names the place where it was written", () => {
  const documents = filesUnder(root, "src").filter((file) => file.endsWith(".md"));
  const others = OTHER_TEXTS.flatMap((top) => filesUnder(root, top));
  const findings = [
    ...[...source, ...tests].flatMap((one) => checkWords(one.path, one.text, commentsOnly(one))),
    ...[...documents, ...others].flatMap((file) => checkWords(file, read(file), read(file))),
    ...checkLockfile(read("package-lock.json")),
  ];
  expect(findings).toEqual([]);
});
