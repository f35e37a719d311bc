/**
 * The descriptors of a set of proto files, found by file and by symbol: what server reflection
 * answers from. Made once; answers share the bytes.
 */

import protobuf from "protobufjs";
import { assert, defined } from "../../base/assert.ts";
import {
  describeFile,
  type FileDescriptor,
  mapEntryName,
  type TypeKinds,
} from "./file-descriptor.ts";
import { type ProtoSource, readProtoSources } from "./proto-source.ts";

export class DescriptorSet {
  readonly #files: ReadonlyMap<string, FileDescriptor>;
  /** The file that declares a full name, by that name. */
  readonly #symbols: ReadonlyMap<string, string>;
  readonly #types: TypeKinds;

  /** `sources` holds all that they import. */
  constructor(sources: readonly ProtoSource[]) {
    const symbols = new Map<string, string>();
    const types = new Map<string, "message" | "enum">();
    for (const { name, packageName, content } of sources) {
      for (const symbol of symbolsOf(content, packageName)) {
        assert(!symbols.has(symbol.name), `${symbol.name} is declared once`);
        symbols.set(symbol.name, name);
        if (symbol.kind !== "other") types.set(symbol.name, symbol.kind);
      }
    }
    this.#files = new Map(sources.map((source) => [source.name, describeFile(source, types)]));
    this.#symbols = symbols;
    this.#types = types;
  }

  /** Of these proto files and all that they import. */
  static of(names: readonly string[]): DescriptorSet {
    return new DescriptorSet(readProtoSources(names));
  }

  get fileNames(): readonly string[] {
    return [...this.#files.keys()];
  }

  /** The file's name; undefined: no file of the set declares that. */
  fileOfSymbol(fullName: string): string | undefined {
    return this.#symbols.get(fullName);
  }

  isMessage(fullName: string): boolean {
    return this.#types.get(fullName) === "message";
  }

  /** The file's descriptor, then those of all its imports, each once; undefined: no such file. */
  withImports(name: string): readonly Buffer[] | undefined {
    if (!this.#files.has(name)) return undefined;
    const names = new Set([name]);
    // A set is iterated in the order of insertion, what is added meanwhile included.
    for (const one of names) for (const imported of this.#file(one).imports) names.add(imported);
    return [...names].map((one) => this.#file(one).bytes);
  }

  #file(name: string): FileDescriptor {
    return defined(this.#files.get(name), `${name} is in the set, as all imports are`);
  }
}

interface ProtoSymbol {
  readonly name: string;
  readonly kind: "message" | "enum" | "other";
}

/** All that a symbol can name: messages, fields, oneofs, enums, values, services, methods. */
function* symbolsOf(owner: protobuf.NamespaceBase, path: string): Generator<ProtoSymbol> {
  for (const one of owner.nestedArray) {
    const name = `${path}.${one.name}`;
    if (one instanceof protobuf.Type) {
      yield { name, kind: "message" };
      for (const member of [...one.fieldsArray, ...one.oneofsArray]) {
        yield { name: `${name}.${member.name}`, kind: "other" };
        if (!(member instanceof protobuf.MapField)) continue;
        const entry = `${name}.${mapEntryName(member)}`;
        yield { name: entry, kind: "message" };
        yield { name: `${entry}.key`, kind: "other" };
        yield { name: `${entry}.value`, kind: "other" };
      }
      yield* symbolsOf(one, name);
    } else if (one instanceof protobuf.Enum) {
      yield { name, kind: "enum" };
      // By protobuf's rules a value is a sibling of its enum; some clients ask below the enum.
      for (const value of Object.keys(one.values)) {
        yield { name: `${path}.${value}`, kind: "other" };
        yield { name: `${name}.${value}`, kind: "other" };
      }
    } else if (one instanceof protobuf.Service) {
      yield { name, kind: "other" };
      for (const method of one.methodsArray)
        yield { name: `${name}.${method.name}`, kind: "other" };
    }
  }
}
