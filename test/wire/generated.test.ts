import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { loadProto, PROTO_ROOT } from "../../src/wire/load.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "cadastre-generated-"));

afterAll(() => rmSync(directory, { recursive: true }));

function filesIn(folder: string, extension: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(extension))
    .sort((a, b) => (a < b ? -1 : 1));
}

test("the committed types are those that the proto files give (test/wire/generate.mjs)", () => {
  execFileSync(process.execPath, [join(ROOT, "test/wire/generate.mjs"), directory]);
  const committed = join(ROOT, "src/wire/generated");
  expect(filesIn(committed, ".ts")).toEqual(filesIn(directory, ".ts"));
  for (const path of filesIn(directory, ".ts")) {
    const now = readFileSync(join(directory, path), "utf8");
    expect(readFileSync(join(committed, path), "utf8"), path).toBe(now);
  }
});

test("every proto file loads with the options of the product", () => {
  for (const path of filesIn(PROTO_ROOT, ".proto")) {
    expect(Object.keys(loadProto(path)).length, path).toBeGreaterThan(0);
  }
});
