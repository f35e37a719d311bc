/**
 * Proto files as they are written: each is read and parsed by itself, so that it stays known which
 * file declares what and which options are whose. (The loader merges all files of a package.)
 */

import { readFileSync } from "node:fs";
import path from "node:path";
import protobuf from "protobufjs";
import { defined } from "../../base/assert.ts";
import { PROTO_ROOT } from "../load.ts";

/** One proto file. Its types are not resolved: they stand as the file spells them. */
export interface ProtoSource {
  /** As import lines name it: "cadastre/v1/common.proto". */
  readonly name: string;
  readonly packageName: string;
  /** In the order of the import lines. */
  readonly imports: readonly string[];
  /** The package: its options are the file's, and what is nested in it the file declares. */
  readonly content: protobuf.NamespaceBase;
}

/** These files and all that they import, directly or not; each once, imports first. */
export function readProtoSources(names: readonly string[]): readonly ProtoSource[] {
  const sources = new Map<string, ProtoSource>();
  const read = (name: string): void => {
    if (sources.has(name)) return;
    const source = parseProtoSource(name, readFileSync(path.join(PROTO_ROOT, name), "utf8"));
    for (const imported of source.imports) read(imported);
    sources.set(name, source);
  };
  for (const name of names) read(name);
  return [...sources.values()];
}

/** The parser does not tell proto2 from proto3 and kinds of imports apart; only one is used. */
const PROTO3 = /^syntax = "proto3";$/m;
const OTHER_IMPORT = /^import (public|weak)\b/m;

/** Throws on what is no proto3 file, or imports in a way that is not described. */
export function parseProtoSource(name: string, text: string): ProtoSource {
  if (!PROTO3.test(text)) throw new Error(`${name}: no line says syntax = "proto3";`);
  if (OTHER_IMPORT.test(text)) throw new Error(`${name}: imports must be plain ones`);
  const parsed = protobuf.parse(text, new protobuf.Root(), { keepCase: true });
  const packageName = defined(parsed.package, `${name} names its package`);
  const content = defined(parsed.root.lookup(packageName), `the parser keeps ${packageName}`);
  if (!(content instanceof protobuf.Namespace)) throw new Error(`${name}: no package`);
  return { name, packageName, imports: parsed.imports ?? [], content };
}
