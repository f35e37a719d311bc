/**
 * The headers of the raw generator (HPACK, RFC 7541). The first block of a connection enters its
 * fields into the server's header table, later ones only name them, as other clients do. Of the
 * answers only one thing is read: the status, in its plain and its Huffman form.
 */

/** Names that stand in the static table, by their index there. */
const STATIC = { methodPost: 3, schemeHttp: 6, path: 4, authority: 1, contentType: 31 } as const;
const STATIC_ENTRIES = 61;
const INDEXED = 0x80;
const ADD_TO_TABLE = 0x40;
const OTHER_FIELDS = 5;

/** Text fields are shorter than 127 bytes, so that lengths are single bytes. */
export function firstHeaderBlock(args: {
  readonly authority: string;
  readonly path: string;
  /** As gRPC writes it, such as "10000m". */
  readonly timeout: string;
}): Buffer {
  return Buffer.concat([
    Buffer.from([INDEXED | STATIC.methodPost, INDEXED | STATIC.schemeHttp]),
    ...addedField(STATIC.path, args.path),
    ...addedField(STATIC.authority, args.authority),
    ...addedField(STATIC.contentType, "application/grpc"),
    ...addedField("te", "trailers"),
    ...addedField("grpc-timeout", args.timeout),
  ]);
}

/** The youngest entry of the table has the lowest index; `:path` and `:authority` come first. */
export function laterHeaderBlock(): Buffer {
  const entries = Array.from(
    { length: OTHER_FIELDS },
    (_, at) => STATIC_ENTRIES + OTHER_FIELDS - at,
  );
  return Buffer.from([STATIC.methodPost, STATIC.schemeHttp, ...entries].map((i) => INDEXED | i));
}

function addedField(name: number | string, value: string): Buffer[] {
  const start =
    typeof name === "number"
      ? [Buffer.from([ADD_TO_TABLE | name])]
      : [Buffer.from([ADD_TO_TABLE]), plain(name)];
  return [...start, plain(value)];
}

function plain(text: string): Buffer {
  return Buffer.from([text.length, ...Buffer.from(text)]);
}

/** The codes of RFC 7541 appendix B for the letters that we look for. */
const HUFFMAN: Readonly<Record<string, string>> = {
  "0": "00000",
  "1": "00001",
  "2": "00010",
  "3": "011001",
  "4": "011010",
  "5": "011011",
  "6": "011100",
  "7": "011101",
  "8": "011110",
  "9": "011111",
  a: "00011",
  c: "00100",
  s: "01000",
  t: "01001",
  "-": "010110",
  g: "100110",
  p: "101011",
  r: "101100",
  u: "101101",
};
const HUFFMAN_FLAG = 0x80;

function huffman(text: string): Buffer {
  const bits = Array.from(text, (letter) => HUFFMAN[letter] ?? "").join("");
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1");
  const bytes = (padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return Buffer.from([HUFFMAN_FLAG | bytes.length, ...bytes]);
}

const STATUS_NAMES = [plain("grpc-status"), huffman("grpc-status")];
const STATUS_CODES = Array.from({ length: 17 }, (_, code) => code);
const STATUS_FIELDS = STATUS_CODES.map((code) =>
  STATUS_NAMES.flatMap((name) =>
    [plain(String(code)), huffman(String(code))].map((value) => Buffer.concat([name, value])),
  ),
);

/** The code in the literal field `grpc-status` of a block of trailers; undefined: there is none. */
export function statusIn(block: Buffer): number | undefined {
  return STATUS_CODES.find((code) => STATUS_FIELDS[code]?.some((field) => block.includes(field)));
}
