// Each check of the house style on a sample that it must refuse, and on a near miss that it must
// not.
import { describe, expect, test } from "vitest";
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
} from "./checks.ts";
import { sourceOf, type Source } from "./source.ts";

type Check = (sources: readonly Source[]) => string[];

function found(check: Check, filePath: string, text: string): number {
  return check([sourceOf(filePath, text)]).length;
}

const lines = (count: number): string => "x;\n".repeat(count);

test("a header has 2 to 12 lines, in either comment form, after a hash-bang", () => {
  expect(found(checkHeaders, "src/a.ts", "// One.\n// Two.\nx;")).toBe(0);
  expect(found(checkHeaders, "src/a.ts", "/**\n * One.\n */\nx;")).toBe(0);
  expect(found(checkHeaders, "src/a.cjs", "#!/usr/bin/env node\n// One.\n// Two.\nx;")).toBe(0);
  expect(found(checkHeaders, "src/a.ts", "// One.\nx;")).toBe(1);
  expect(found(checkHeaders, "src/a.ts", "x;")).toBe(1);
  expect(found(checkHeaders, "src/a.ts", "// More.\n".repeat(13))).toBe(1);
});

test("a file is too long at 401 lines, a test at 601", () => {
  const sizes: Check = (sources) => checkSizes(sources, {});
  expect(found(sizes, "src/a.ts", lines(400))).toBe(0);
  expect(found(sizes, "src/a.ts", lines(401))).toBe(1);
  expect(found(sizes, "test/a.test.ts", lines(600))).toBe(0);
  expect(found(sizes, "test/a.test.ts", lines(601))).toBe(1);
});

test("an exemption from the size has a bound, and must still be needed", () => {
  const sizes: Check = (sources) =>
    checkSizes(sources, { "src/a.ts": { linesMax: 450, reason: "one table" } });
  expect(found(sizes, "src/a.ts", lines(450))).toBe(0);
  expect(found(sizes, "src/a.ts", lines(451))).toBe(1);
  expect(found(sizes, "src/a.ts", lines(300))).toBe(1);
  expect(sizes([])).toHaveLength(1);
});

test("a line has at most 100 columns, unless it cannot be broken", () => {
  expect(found(checkColumns, "src/a.ts", "x".repeat(100))).toBe(0);
  expect(found(checkColumns, "src/a.ts", "x".repeat(101))).toBe(1);
  expect(found(checkColumns, "src/a.ts", `import { x } from "${"x".repeat(101)}";`)).toBe(0);
  expect(found(checkColumns, "src/a.ts", `import { x, y } from "${"x".repeat(101)}";`)).toBe(1);
  expect(found(checkColumns, "test/a.test.ts", `  test("${"x".repeat(101)}", () => {`)).toBe(0);
});

test("default exports and barrels are found, public entry points may re-export", () => {
  expect(found(checkExports, "src/a.ts", "export default function f() {}")).toBe(1);
  expect(found(checkExports, "src/a.ts", "export { f as default };")).toBe(1);
  expect(found(checkExports, "src/a.ts", '// All.\nexport { x } from "./x.ts";\n')).toBe(1);
  expect(found(checkExports, "src/a.ts", 'import { x } from "./x.ts";\nexport { x };\n')).toBe(1);
  expect(found(checkExports, "src/a.ts", 'export * from "./x.ts";\nf();\n')).toBe(1);
  expect(found(checkExports, "src/client/index.ts", 'export { x } from "./x.ts";')).toBe(0);
  expect(found(checkExports, "src/a.ts", 'import { x } from "./x.ts";\nexport const y = x;')).toBe(
    0,
  );
});

describe("the core and the machines are pure", () => {
  test.each([
    "Date.now();",
    "new Date();",
    "Math.random();",
    "crypto.randomUUID();",
    "performance.now();",
    "setTimeout(f, 1);",
    "globalThis.setTimeout(f, 1);",
    "queueMicrotask(f);",
    "process.exit(1);",
    "new Intl.Collator();",
    'a.localeCompare("b");',
    "list.sort();",
    "list.toSorted();",
    "JSON.stringify(map);",
    "async function f() {}",
    "Promise.resolve();",
    "const s = `${Date.now()}`;",
    'const quote = /"/; Date.now();',
  ])("found: %s", (text) => {
    expect(found(checkPurity, "src/raft/a.ts", text)).toBe(1);
    expect(found(checkPurity, "src/machine/shard/a.ts", text)).toBe(1);
    expect(found(checkPurity, "src/server/a.ts", text)).toBe(0);
  });

  test.each([
    "// The Date is banned, and setTimeout too.",
    "/* Math.random */",
    'const kind = "process";',
    "const s = `Date ${x} crypto`;",
    "list.sort((a, b) => a - b);",
    "type Window = { readonly updateDate: number };",
    "step.process;",
  ])("not found: %s", (text) => {
    expect(found(checkPurity, "src/raft/a.ts", text)).toBe(0);
  });
});

describe("comments hold words, not code and not plans", () => {
  test.each([
    "// const a = 1;",
    "// if (x) {",
    "// return list.length;",
    '// import { x } from "./x.ts";',
    "// this.#log.append(entry);",
    "// a.b = 3;",
    "// }",
    `// ${"TO" + "DO"}: later`,
    `/* ${"FIX" + "ME"} */`,
  ])("found: %s", (text) => {
    expect(found(checkComments, "src/a.ts", text)).toBe(1);
  });

  test.each([
    "//   1. we append 7 in term 3, and its write starts;",
    "// if (and only if) the leader says so, the entry is kept",
    "// return from each case, so that the compiler finds the forgotten one",
    "// ---- Commands.",
    'const text = "// const a = 1;";',
  ])("not found: %s", (text) => {
    expect(found(checkComments, "src/a.ts", text)).toBe(0);
  });
});

test("a file that nothing in src imports is dead unless it is an entry point", () => {
  const sources = [
    sourceOf("src/cli/main.ts", 'import { x } from "../base/x.ts";'),
    sourceOf("src/base/x.ts", ""),
    sourceOf("src/base/dead.ts", ""),
  ];
  expect(checkDeadFiles(sources, { "src/cli/main.ts": "the binary" })).toEqual([
    "src/base/dead.ts: nothing in src imports it",
  ]);
});

test("the numbers of a SPEC and of its invariants must agree both ways", () => {
  const args = { name: "raft", prefixes: ["R"], spec: "R1 a\nR2 b" };
  expect(checkSpecNumbers({ ...args, invariants: "// R1 R2" })).toEqual([]);
  expect(checkSpecNumbers({ ...args, invariants: "// R1" })).toEqual([
    "raft: R2 is checked nowhere",
  ]);
  expect(checkSpecNumbers({ ...args, invariants: "// R1 R2 R3" })).toHaveLength(1);
  expect(checkSpecNumbers({ ...args, spec: "none", invariants: "" })).toHaveLength(1);
});

describe("tests run as written and never wait", () => {
  test.each([
    "test.skip(f);",
    "describe.only(f);",
    "test.todo(f);",
    "test.skipIf(x)(f);",
    "it(f);",
    "await sleep(5);",
    "setTimeout(f, 5);",
    'import { setTimeout as wait } from "node:timers/promises";',
  ])("found: %s", (text) => {
    expect(found(checkTests, "test/raft/a.test.ts", text)).toBeGreaterThan(0);
  });

  test("an integration test may wait for a condition, but is not skipped either", () => {
    expect(found(checkTests, "test/integration/a.test.ts", "setTimeout(f, 5);")).toBe(0);
    expect(found(checkTests, "test/integration/a.test.ts", "test.skip(f);")).toBe(1);
  });

  test("a test that is about skipping or waiting is left alone", () => {
    expect(found(checkTests, "test/a.test.ts", 'test("it(sleep) skips", () => {});')).toBe(0);
  });
});

test("nothing names the place where it was written", () => {
  const words = (text: string): number => checkWords("a.md", text, text).length;
  expect(words("see /" + "work/main")).toBe(1);
  expect(words("from registry" + ".example.org")).toBe(1);
  expect(words("done in session" + " 12")).toBe(1);
  expect(words("as issue" + " 7 says")).toBe(1);
  expect(words("closes " + "#12")).toBe(1);
  expect(
    words("the network/work/flow of a session; etcd#123 and etcd #12345; src/machine/root/a.ts"),
  ).toBe(0);
});

test("a lockfile names no registry", () => {
  expect(checkLockfile('"resolved": "https://example.org/a.tgz"')).toHaveLength(1);
  expect(checkLockfile('"url": "https://example.org/sponsor"')).toEqual([]);
});
