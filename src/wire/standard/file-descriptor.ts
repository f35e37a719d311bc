/**
 * A parsed proto file as a google.protobuf.FileDescriptorProto, equal to what protoc makes of it
 * (without comments and positions). What this cannot describe it refuses: a client that trusts a
 * descriptor must not get half of one.
 */

import protobuf from "protobufjs";
import descriptor from "protobufjs/ext/descriptor/index.js";
import { assert } from "../../base/assert.ts";
import type { ProtoSource } from "./proto-source.ts";

/** Messages and enums by full name, without a leading dot. */
export type TypeKinds = ReadonlyMap<string, "message" | "enum">;

type Plain = Record<string, unknown>;

export interface FileDescriptor {
  readonly name: string;
  readonly imports: readonly string[];
  /** The serialized FileDescriptorProto. */
  readonly bytes: Buffer;
}

export function describeFile(source: ProtoSource, types: TypeKinds): FileDescriptor {
  const { name, packageName, imports, content } = source;
  const scope: Scope = { file: name, path: packageName, types };
  const declared = declarationsOf(content, scope);
  const services = content.nestedArray.filter((one) => one instanceof protobuf.Service);
  const plain = {
    name,
    package: packageName,
    dependency: imports,
    ...declared,
    messageType: declared.nestedType,
    service: services.map((one) => describeService(one, within(scope, one.name))),
    ...optionsOf(content, descriptor.FileOptions, scope),
    syntax: "proto3",
  };
  const { FileDescriptorProto } = descriptor;
  const bytes = FileDescriptorProto.encode(FileDescriptorProto.fromObject(plain)).finish();
  return { name, imports, bytes: Buffer.from(bytes) };
}

// ---- Scopes.

/** Where a declaration stands, for names that it mentions and for errors about it. */
interface Scope {
  readonly file: string;
  readonly path: string;
  readonly types: TypeKinds;
}

function within(scope: Scope, name: string): Scope {
  return { ...scope, path: `${scope.path}.${name}` };
}

function refuse(scope: Scope, problem: string): never {
  throw new Error(`${scope.file}: ${scope.path}: ${problem}`);
}

/** A type as a file spells it, looked for from the innermost scope outwards. */
function resolve(spelt: string, scope: Scope): { readonly name: string; readonly isEnum: boolean } {
  for (let path = scope.path; ; path = path.slice(0, Math.max(path.lastIndexOf("."), 0))) {
    const isOutermost = path === "" || spelt.startsWith(".");
    const name = isOutermost ? spelt.replace(/^\./, "") : `${path}.${spelt}`;
    const kind = scope.types.get(name);
    if (kind !== undefined) return { name: `.${name}`, isEnum: kind === "enum" };
    if (isOutermost) return refuse(scope, `no type ${spelt} is in sight`);
  }
}

// ---- Declarations.

/** Messages and enums of a file or a message, in the order of the text. */
function declarationsOf(
  owner: protobuf.NamespaceBase,
  scope: Scope,
): { readonly nestedType: Plain[]; readonly enumType: Plain[] } {
  const nestedType: Plain[] = [];
  const enumType: Plain[] = [];
  for (const one of owner.nestedArray) {
    const inner = within(scope, one.name);
    if (one instanceof protobuf.Type) nestedType.push(describeMessage(one, inner));
    else if (one instanceof protobuf.Enum) enumType.push(describeEnum(one, inner));
    else if (!(one instanceof protobuf.Service)) refuse(inner, "extensions are not described");
  }
  return { nestedType, enumType };
}

function describeMessage(type: protobuf.Type, scope: Scope): Plain {
  // The ones of `optional` fields come last.
  const isSynthetic = (one: protobuf.OneOf): boolean => one.fieldsArray.some(isProto3Optional);
  const oneofs = [
    ...type.oneofsArray.filter((one) => !isSynthetic(one)),
    ...type.oneofsArray.filter(isSynthetic),
  ];
  if ((type.extensions ?? []).length > 0) refuse(scope, "extension ranges are not described");
  const { nestedType, enumType } = declarationsOf(type, scope);
  const maps = type.fieldsArray.filter((one) => one instanceof protobuf.MapField);
  return {
    name: type.name,
    field: type.fieldsArray.map((one) => describeField(one, oneofs, within(scope, one.name))),
    nestedType: [...maps.map((one) => describeMapEntry(one, scope)), ...nestedType],
    enumType,
    oneofDecl: oneofs.map((one) => ({
      name: one.name,
      ...optionsOf(one, descriptor.OneofOptions, within(scope, one.name)),
    })),
    ...reservedOf(type.reserved, (last) => last + 1),
    ...optionsOf(type, descriptor.MessageOptions, scope),
  };
}

function isProto3Optional(field: protobuf.Field): boolean {
  return field.options?.["proto3_optional"] === true;
}

function describeField(
  field: protobuf.Field,
  oneofs: readonly protobuf.OneOf[],
  scope: Scope,
): Plain {
  const isMap = field instanceof protobuf.MapField;
  // Looked up from the message, whose entry types are not among the resolvable ones.
  const type = isMap ? mapEntryType(field, scope) : typeOf(field.type, scope);
  const jsonName = field.options?.["json_name"] as string | undefined;
  return {
    name: field.name,
    number: field.id,
    label: isMap || field.repeated ? "LABEL_REPEATED" : "LABEL_OPTIONAL",
    ...type,
    jsonName: jsonName ?? jsonNameOf(field.name),
    ...(field.partOf === null ? {} : { oneofIndex: oneofs.indexOf(field.partOf) }),
    ...(isProto3Optional(field) ? { proto3Optional: true } : {}),
    ...optionsOf(field, descriptor.FieldOptions, scope, ["json_name", "proto3_optional"]),
  };
}

const SCALARS: ReadonlySet<string> = new Set(Object.keys(protobuf.types.basic));

function typeOf(spelt: string, scope: Scope): Plain {
  if (SCALARS.has(spelt)) return { type: `TYPE_${spelt.toUpperCase()}` };
  const { name, isEnum } = resolve(spelt, scope);
  return { type: isEnum ? "TYPE_ENUM" : "TYPE_MESSAGE", typeName: name };
}

/** As protobuf's JSON form spells a field. */
function jsonNameOf(name: string): string {
  return name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());
}

// ---- Maps: repeated fields of an entry message that nobody has written.

export function mapEntryName(field: protobuf.MapField): string {
  const camel = jsonNameOf(field.name);
  return `${camel.slice(0, 1).toUpperCase()}${camel.slice(1)}Entry`;
}

function mapEntryType(field: protobuf.MapField, scope: Scope): Plain {
  const message = scope.path.slice(0, scope.path.lastIndexOf("."));
  return { type: "TYPE_MESSAGE", typeName: `.${message}.${mapEntryName(field)}` };
}

function describeMapEntry(field: protobuf.MapField, scope: Scope): Plain {
  const name = mapEntryName(field);
  const inner = within(scope, name);
  const member = (memberName: string, number: number, spelt: string): Plain => ({
    name: memberName,
    number,
    label: "LABEL_OPTIONAL",
    ...typeOf(spelt, inner),
    jsonName: memberName,
  });
  return {
    name,
    field: [member("key", 1, field.keyType), member("value", 2, field.type)],
    options: { mapEntry: true },
  };
}

// ---- Enums and services.

function describeEnum(type: protobuf.Enum, scope: Scope): Plain {
  return {
    name: type.name,
    value: Object.entries(type.values).map(([name, number]) => ({
      name,
      number,
      ...optionsOf(
        { options: type.valuesOptions?.[name] },
        descriptor.EnumValueOptions,
        within(scope, name),
      ),
    })),
    ...reservedOf(type.reserved, (last) => (last === FIELD_NUMBER_MAX ? INT32_MAX : last)),
    ...optionsOf(type, descriptor.EnumOptions, scope),
  };
}

function describeService(service: protobuf.Service, scope: Scope): Plain {
  return {
    name: service.name,
    method: service.methodsArray.map((one) => {
      const inner = within(scope, one.name);
      return {
        name: one.name,
        inputType: resolve(one.requestType, inner).name,
        outputType: resolve(one.responseType, inner).name,
        ...(one.requestStream === true ? { clientStreaming: true } : {}),
        ...(one.responseStream === true ? { serverStreaming: true } : {}),
        ...optionsOf(one, descriptor.MethodOptions, inner),
      };
    }),
    ...optionsOf(service, descriptor.ServiceOptions, scope),
  };
}

// ---- What several kinds have.

/** What the parser makes of `max`, in messages and enums alike. */
const FIELD_NUMBER_MAX = 2 ** 29 - 1;
const INT32_MAX = 2 ** 31 - 1;

/** Ranges, of which the parser gives the first and the last number, and names. */
function reservedOf(
  // The parser types do not tell of the ranges.
  reserved: readonly unknown[] | undefined,
  lastToEnd: (last: number) => number,
): Plain {
  const ranges = (reserved ?? []).filter((one) => Array.isArray(one)) as [number, number][];
  const names = (reserved ?? []).filter((one) => typeof one === "string");
  return {
    reservedRange: ranges.map(([start, last]) => ({ start, end: lastToEnd(last) })),
    reservedName: names,
  };
}

/** Options of protobuf's own; those of others would need their definitions to be described. */
function optionsOf(
  owner: { readonly options?: Readonly<Record<string, unknown>> | undefined },
  type: protobuf.Type,
  scope: Scope,
  notOptions: readonly string[] = [],
): Plain {
  const given = Object.entries(owner.options ?? {}).filter(([name]) => !notOptions.includes(name));
  if (given.length === 0) return {};
  const options: Plain = {};
  for (const [name, value] of given) {
    const camelCase = jsonNameOf(name);
    assert(typeof value !== "object", "the parser gives flat options");
    if (!Object.hasOwn(type.fields, camelCase)) refuse(scope, `option ${name} is not described`);
    options[camelCase] = value;
  }
  return { options };
}
