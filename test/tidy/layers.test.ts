// The layer check on small tables and sources: what it lets pass, and that it is able to refuse.
import { describe, expect, test } from "vitest";
import { checkLayers, packageOf, parseLayerTable } from "./layers.ts";
import { sourceOf } from "./source.ts";

const rows = parseLayerTable(`
| folder | may import | packages |
| --- | --- | --- |
| base | nothing | none |
| raft | base | none |
| machine | base | none |
| machine/root, machine/shard | base, machine/group | none |
| storage | base, raft (types) | level, node, pino (types) |
| client/grpc | base, client | @grpc/grpc-js |
| client | base | none |
| server | all but client, cli | none |
`);

function findings(filePath: string, text: string): string[] {
  return checkLayers([sourceOf(filePath, text)], rows);
}

describe("what the table allows passes", () => {
  test.each([
    ["src/raft/log.ts", 'import { assert } from "../base/assert.ts";'],
    ["src/raft/log.ts", 'import { quorum } from "./quorum.ts";'],
    ["src/machine/codec.ts", 'import { apply } from "./shard/apply.ts";'],
    ["src/machine/shard/apply.ts", 'import type { Applied } from "../group.ts";'],
    ["src/storage/store.ts", 'import type { Entry } from "../raft/types.ts";'],
    ["src/storage/store.ts", 'import { type Entry, type Index } from "../raft/types.ts";'],
    ["src/storage/store.ts", 'import { Level } from "level";\nimport fs from "node:fs";'],
    ["src/storage/store.ts", 'import type { Logger } from "pino";'],
    ["src/client/grpc/channel.ts", 'import { Client } from "@grpc/grpc-js";'],
    ["src/server/main.ts", 'import { x } from "../storage/store.ts";'],
    ["src/raft/log.ts", '// import { x } from "../server/main.ts";'],
    ["src/raft/log.ts", 'const text = "import x from y";'],
  ])("%s: %s", (filePath, text) => {
    expect(findings(filePath, text)).toEqual([]);
  });
});

describe("what the table does not allow is found", () => {
  test.each([
    ["src/base/a.ts", 'import { x } from "../raft/log.ts";', "base may not import src/raft/log.ts"],
    ["src/raft/a.ts", 'export { x } from "../machine/a.ts";', "may not import src/machine/a.ts"],
    ["src/raft/a.ts", 'import {\n  x,\n} from "../machine/a.ts";', "a.ts:3: raft may not import"],
    ["src/raft/a.ts", 'const x = await import("../machine/a.ts");', "may not import"],
    ["src/raft/a.ts", 'import fs from "node:fs";', "raft may not use the package node"],
    ["src/raft/a.ts", 'import "level";', "raft may not use the package level"],
    ["src/machine/root/a.ts", 'import { x } from "../shard/b.ts";', "may not import"],
    ["src/storage/a.ts", 'import { x } from "../raft/b.ts";', "only types from src/raft/b.ts"],
    ["src/storage/a.ts", 'import { x, type Y } from "../raft/b.ts";', "only types"],
    ["src/storage/a.ts", 'import pino from "pino";', "only types of the package pino"],
    ["src/client/a.ts", 'import { Client } from "@grpc/grpc-js";', "package @grpc/grpc-js"],
    ["src/server/a.ts", 'import { x } from "../client/b.ts";', "server may not import"],
    ["src/raft/a.ts", 'import { x } from "../../test/raft/b.ts";', "outside src"],
    ["src/raft/a.ts", 'import { x } from "../base/b.js";', "must end in .ts"],
    ["src/extra/a.ts", "", "no row in ARCHITECTURE.md"],
  ])("%s: %s", (filePath, text, expected) => {
    expect(findings(filePath, text)).toEqual([expect.stringContaining(expected)]);
  });
});

test("the name of a package is the part of the specifier that is installed", () => {
  expect(packageOf("@grpc/grpc-js/build/src")).toBe("@grpc/grpc-js");
  expect(packageOf("pino/file")).toBe("pino");
  expect(packageOf("node:fs/promises")).toBe("node");
});
