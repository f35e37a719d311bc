// Whether the bytes of descriptors are right is judged with protoc (test/integration/foreign).
import descriptor from "protobufjs/ext/descriptor/index.js";
import { expect, test } from "vitest";
import { InvariantError } from "../../../src/base/assert.ts";
import { methodRows } from "../../../src/wire/methods.ts";
import { DescriptorSet } from "../../../src/wire/standard/descriptor-set.ts";
import { parseProtoSource, readProtoSources } from "../../../src/wire/standard/proto-source.ts";
import { publicDescriptors } from "../../../src/wire/standard/reflection.ts";

const HEAD = 'syntax = "proto3";\npackage p.q;\n';

/** A set of one file, `f.proto`, in the package p.q. */
function setOf(body: string): DescriptorSet {
  return new DescriptorSet([parseProtoSource("f.proto", HEAD + body)]);
}

function decode(bytes: Uint8Array | undefined): Record<string, unknown> {
  const message = descriptor.FileDescriptorProto.decode(bytes ?? new Uint8Array());
  return descriptor.FileDescriptorProto.toObject(message, { enums: String, arrays: true });
}

function nameOf(bytes: Buffer): unknown {
  return decode(bytes)["name"];
}

test("a file comes first and then all that it imports, directly or not, each once", () => {
  const sources = ["a", "b", "c", "d"].map((name) => {
    const imports = { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }[name] ?? [];
    const lines = imports.map((one) => `import "${one}.proto";\n`).join("");
    return parseProtoSource(`${name}.proto`, `${HEAD}${lines}message M_${name} {}`);
  });
  const set = new DescriptorSet(sources);
  expect(set.withImports("a.proto")?.map(nameOf)).toEqual([
    "a.proto",
    "b.proto",
    "c.proto",
    "d.proto",
  ]);
  expect(set.withImports("d.proto")?.map(nameOf)).toEqual(["d.proto"]);
  expect(set.withImports("a")).toBeUndefined();
});

test("reading follows imports, so that a set is whole", () => {
  const names = readProtoSources(["cadastre/admin/v1/cluster.proto"]).map(({ name }) => name);
  expect(names).toEqual(["cadastre/v1/common.proto", "cadastre/admin/v1/cluster.proto"]);
});

test("a symbol is all that has a full name: messages, fields, oneofs, enums, values, services, methods", () => {
  const set = setOf(`
    message M { string f = 1; oneof o { bool g = 2; } map<string, N> by_name = 3; message N {}
      enum E { ZERO = 0; } }
    enum T { ONE = 0; }
    service S { rpc R(M) returns (M.N); }`);
  const declared = ["M", "M.f", "M.o", "M.g", "M.by_name", "M.ByNameEntry", "M.ByNameEntry.value"];
  declared.push("M.N", "M.E", "M.ZERO", "M.E.ZERO", "T", "ONE", "T.ONE", "S", "S.R");
  for (const name of declared) expect(set.fileOfSymbol(`p.q.${name}`), name).toBe("f.proto");
  for (const name of ["p.q", "p", "", "p.q.ZERO", "p.q.M.S", "M", ".p.q.M"]) {
    expect(set.fileOfSymbol(name), name).toBeUndefined();
  }
  const messages = [...declared, "Nothing"].filter((name) => set.isMessage(`p.q.${name}`));
  expect(messages).toEqual(["M", "M.ByNameEntry", "M.N"]);
});

test("types are looked for from the inside outwards, and are written with their full names", () => {
  const set = setOf(`
    message T {}
    message M { message T {} T inner = 1; .p.q.T outer = 2; q.T also_outer = 3; }
    message N { T outer = 1; M.T inner = 2; p.q.M.T also_inner = 3; }`);
  const file = decode(set.withImports("f.proto")?.[0]);
  const [, m, n] = file["messageType"] as { field: { typeName: string }[] }[];
  const types = [m, n].map((one) => one?.field.map(({ typeName }) => typeName));
  expect(types).toEqual([
    [".p.q.M.T", ".p.q.T", ".p.q.T"],
    [".p.q.T", ".p.q.M.T", ".p.q.M.T"],
  ]);
});

test("what cannot be described is refused with its place, never left out", () => {
  const bad: [string, string][] = [
    ["message M { Nothing f = 1; }", "f.proto: p.q.M.f: no type Nothing is in sight"],
    ["service S { rpc R(M) returns (M); }", "f.proto: p.q.S.R: no type M is in sight"],
    ["message M { string f = 1 [(own) = 1]; }", "p.q.M.f: option (own) is not described"],
    ["message M { option odd = true; }", "p.q.M: option odd is not described"],
    ["option odd = true;\nmessage M {}", "p.q: option odd is not described"],
    ["message M {}\nextend M { string f = 1; }", "p.q.f: extensions are not described"],
  ];
  for (const [body, problem] of bad) expect(() => setOf(body), body).toThrow(problem);
  for (const body of ['import public "a.proto";', 'import weak "a.proto";']) {
    expect(() => setOf(body)).toThrow("f.proto: imports must be plain ones");
  }
  expect(() => parseProtoSource("f.proto", 'syntax = "proto2";\npackage p;')).toThrow(
    "f.proto: no line says",
  );
});

test("a name that two files declare, and an import that is not in the set, are bugs", () => {
  const one = parseProtoSource("one.proto", `${HEAD}message M {}`);
  const two = parseProtoSource("two.proto", `${HEAD}message M {}`);
  expect(() => new DescriptorSet([one, two])).toThrow(InvariantError);
  const alone = setOf('import "missing.proto"; message M {}');
  expect(() => alone.withImports("f.proto")).toThrow(InvariantError);
});

test("every public method is described, with its messages, and nothing of the peer port is", () => {
  const set = publicDescriptors();
  for (const { row } of methodRows()) {
    const symbol = row.path.slice(1).replace("/", ".");
    expect(set.fileOfSymbol(symbol), symbol).toMatch(/^cadastre\/(admin\/)?v1\//);
  }
  expect(set.fileNames.filter((name) => name.includes("peer"))).toEqual([]);
  expect(set.fileOfSymbol("cadastre.peer.v1.Peer")).toBeUndefined();
});
