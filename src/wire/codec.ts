/**
 * Building blocks of the conversions: a codec says once how a domain value and its protobuf form
 * (an object as the loader gives it, see load.ts) become each other. Both ways are total.
 *
 * The way in checks bounds and answers a Flaw, which knows the path of the field in the proto's
 * names. The way out never rounds: a number that the field cannot hold is sent as the field's
 * largest value, which every receiver refuses by name.
 */

import type { Bytes } from "../base/bytes.ts";
import { KEY_BYTES_MAX, NAME_CHARS_MAX } from "./limits.ts";

/** Why a received value is refused, and where it stands. */
export class Flaw {
  readonly problem: string;
  /** Path in the proto's names, such as `items[3].range_id`. Empty: the whole message. */
  readonly field: string;

  constructor(problem: string, field = "") {
    this.problem = problem;
    this.field = field;
  }

  /** The same flaw, seen from the message or list around it. */
  within(step: string): Flaw {
    const isFirst = this.field === "" || this.field.startsWith("[");
    return new Flaw(this.problem, isFirst ? step + this.field : `${step}.${this.field}`);
  }
}

/** `In` is what the serializer takes, `Out` what the deserializer gives. */
export interface Codec<Domain, In, Out> {
  readonly toProto: (value: Domain) => In;
  readonly fromProto: (wire: Out) => Domain | Flaw;
}

/** One codec per field; a field that only one of the two sides has is a type error. */
export type Fields<Domain, In, Out> = {
  readonly [K in keyof Domain | keyof Out]-?: K extends keyof Domain & keyof In & keyof Out
    ? Codec<Domain[K], In[K], Out[K]>
    : never;
};

/** A message whose fields have the same names on both sides. `check` looks at fields together. */
export function message<Domain extends object, In extends object, Out extends object>(
  fields: Fields<Domain, In, Out>,
  check?: (value: Domain) => Flaw | undefined,
): Codec<Domain, In, Out | null | undefined> {
  const codecs = fields as Readonly<Record<string, Codec<unknown, unknown, unknown>>>;
  const rows = Object.entries(codecs).map(([field, codec]) => ({
    name: field,
    protoName: toSnakeCase(field),
    codec,
  }));
  return {
    toProto: (value) => {
      const source = value as Readonly<Record<string, unknown>>;
      const proto: Record<string, unknown> = {};
      for (const row of rows) proto[row.name] = row.codec.toProto(source[row.name]);
      return proto as In;
    },
    fromProto: (wire) => {
      if (wire === null || wire === undefined) return MISSING;
      const source = wire as Readonly<Record<string, unknown>>;
      const value: Record<string, unknown> = {};
      for (const { name, protoName, codec } of rows) {
        const part = codec.fromProto(source[name]);
        if (part instanceof Flaw) return part.within(protoName);
        value[name] = part;
      }
      return check?.(value as Domain) ?? (value as Domain);
    },
  };
}

const MISSING = new Flaw("is missing");

/** Adds a check to a codec's way in. */
export function checked<Domain, In, Out>(
  codec: Codec<Domain, In, Out>,
  check: (value: Domain) => Flaw | undefined,
): Codec<Domain, In, Out> {
  return {
    toProto: codec.toProto,
    fromProto: (wire) => {
      const value = codec.fromProto(wire);
      return value instanceof Flaw ? value : (check(value) ?? value);
    },
  };
}

/** A message that may be absent. */
export function optional<Domain, In, Out>(
  codec: Codec<Domain, In, Out>,
): Codec<Domain | undefined, In | null, Out | null | undefined> {
  return {
    toProto: (value) => (value === undefined ? null : codec.toProto(value)),
    fromProto: (wire) => (wire === null || wire === undefined ? undefined : codec.fromProto(wire)),
  };
}

/** A scalar whose value `none` (0 or "") says that there is none. */
export function unless<Domain, In, Out, None extends string | number>(
  none: None,
  codec: Codec<Domain, In, Out>,
): Codec<Domain | undefined, In | None, Out> {
  return {
    toProto: (value) => (value === undefined ? none : codec.toProto(value)),
    fromProto: (wire) => ((wire as unknown) === none ? undefined : codec.fromProto(wire)),
  };
}

export function list<Domain, In, Out>(
  codec: Codec<Domain, In, Out>,
  bounds: { readonly min?: number; readonly max?: number } = {},
): Codec<readonly Domain[], In[], readonly Out[]> {
  const { min = 0, max = Infinity } = bounds;
  return {
    toProto: (values) => values.map(codec.toProto),
    fromProto: (wires) => {
      if (wires.length < min) return new Flaw(`has ${wires.length} items, at least ${min} needed`);
      if (wires.length > max) return new Flaw(`has ${wires.length} items, at most ${max} allowed`);
      const values: Domain[] = [];
      for (const wire of wires) {
        const value = codec.fromProto(wire);
        if (value instanceof Flaw) return value.within(`[${values.length}]`);
        values.push(value);
      }
      return values;
    },
  };
}

interface Range {
  readonly min?: number;
  readonly max?: number;
}

/** 64 bits on the wire, a safe integer inside; a larger one is refused and never rounded. */
export function uint64<T extends number = number>(
  range: Range = {},
): Codec<T, number | string, string> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = range;
  return {
    toProto: (value) => (Number.isSafeInteger(value) && value >= 0 ? value : UINT64_MAX),
    fromProto: (wire) => {
      const value = Number(wire);
      if (!Number.isSafeInteger(value)) return new Flaw(`is ${wire}, must be below 2^53`);
      return outOfRange(value, min, max) ?? (value as T);
    },
  };
}

const UINT64_MAX = "18446744073709551615";

export function uint32<T extends number = number>(range: Range = {}): Codec<T, number, number> {
  const { min = 0, max = UINT32_MAX - 1 } = range;
  return {
    toProto: (value) =>
      Number.isInteger(value) && value >= 0 && value < UINT32_MAX ? value : UINT32_MAX,
    fromProto: (value) => outOfRange(value, min, max) ?? (value as T),
  };
}

/** Never a value of ours: "none" in some fields, and refused in all others. */
export const UINT32_MAX: number = 2 ** 32 - 1;

function outOfRange(value: number, min: number, max: number): Flaw | undefined {
  if (value < min) return new Flaw(`is ${value}, must be at least ${min}`);
  if (value > max) return new Flaw(`is ${value}, must be at most ${max}`);
  return undefined;
}

function same<T>(value: T): T {
  return value;
}

export const bool: Codec<boolean, boolean, boolean> = { toProto: same, fromProto: same };

interface TextRules {
  readonly min?: number;
  readonly max: number;
  /** Of the whole text. */
  readonly pattern?: RegExp;
  /** The pattern in words, after "must be". */
  readonly form?: string;
}

/** Lengths count UTF-16 units, which is what JavaScript's clients can count, too. */
export function text(rules: TextRules): Codec<string, string, string> {
  const { min = 0, max, pattern, form } = rules;
  return {
    toProto: same,
    fromProto: (value) => {
      if (value.length < min) return new Flaw(value === "" ? "is empty" : `is below ${min} long`);
      if (value.length > max) return new Flaw(`has ${value.length} characters, at most ${max}`);
      return pattern?.test(value) === false ? new Flaw(`must be ${form}`) : value;
    },
  };
}

const NAME_PATTERN = /^[A-Za-z0-9_.-]+$/;

/** Keyspaces, node ids, range ids, client ids, import ids. */
export const name: Codec<string, string, string> = text({
  min: 1,
  max: NAME_CHARS_MAX,
  pattern: NAME_PATTERN,
  form: "made of letters, digits, _, . and -",
});

/** Copied out of the received frame, which it would otherwise keep in memory. */
export function bytes(bytesMax: number): Codec<Bytes, Bytes, Bytes> {
  return {
    toProto: same,
    fromProto: (wire) =>
      wire.length > bytesMax
        ? new Flaw(`has ${wire.length} bytes, at most ${bytesMax} allowed`)
        : new Uint8Array(wire),
  };
}

export const key: Codec<Bytes, Bytes, Bytes> = bytes(KEY_BYTES_MAX);

/** An enum: the domain's words and the names of the proto's values, one to one. */
export function oneOf<Domain extends string, Name extends string>(
  names: Readonly<Record<Domain, Name>>,
  unspecified?: { readonly name: string; readonly means: NoInfer<Domain> },
): Codec<Domain, Name, string> {
  const words = new Map<string, Domain>();
  for (const [word, wireName] of Object.entries<Name>(names)) words.set(wireName, word as Domain);
  if (unspecified !== undefined) words.set(unspecified.name, unspecified.means);
  return {
    toProto: (word) => names[word],
    fromProto: (wire) => words.get(wire) ?? new Flaw(`is ${wire}, which has no meaning here`),
  };
}

/** `confirmedMsAgo` is `confirmed_ms_ago` in the proto. */
export function toSnakeCase(camelCase: string): string {
  return camelCase.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
