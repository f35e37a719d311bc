// Damaged maps: every importer is total, and what it lets through tiles the key space (law 24).
import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesEqual, bytesToUtf8, utf8ToBytes } from "../../src/base/bytes.ts";
import { isValidSpan } from "../../src/base/span.ts";
import { importMap } from "../../src/importers/import-map.ts";
import { type ImportedMap, isImportable, MAP_FORMATS } from "../../src/importers/imported-map.ts";
import { summaryLines } from "../../src/importers/summary.ts";
import { generateMap } from "../fixtures/generate-map.ts";
import { fixture } from "./maps.ts";

const TEXTS = [
  generateMap({ ranges: 20, owners: 3, seed: 1 }),
  fixture("ring-dse67-3node-32vnodes.txt"),
  fixture("ring-3node-1token-mintoken.txt"),
  fixture("invented-ring-2dc-ports.txt"),
  fixture("describering-6ranges-with-gaps-2dc.txt"),
  fixture("invented-regions-4.txt"),
  fixture("invented-regions-partitions-7.txt"),
  fixture("invented-pd-regions-4.json"),
];

type Damage = {
  readonly kind: "cut" | "drop" | "overwrite" | "repeat";
  readonly at: number;
  readonly with: string;
};

const damages = fc.array(
  fc.record<Damage>({
    kind: fc.constantFrom("cut", "drop", "overwrite", "repeat"),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    with: fc.oneof(fc.constantFrom("7", "-", "|", '"', "}", "[", "\n", "", "0x"), fc.string()),
  }),
  { minLength: 1, maxLength: 4 },
);

function damage(text: string, { kind, at, with: insert }: Damage): string {
  const from = Math.floor(at * text.length);
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const lineEnd = text.indexOf("\n", from) + 1 || text.length;
  switch (kind) {
    case "cut":
      return text.slice(0, from);
    case "drop":
      return text.slice(0, lineStart) + text.slice(lineEnd);
    case "overwrite":
      return text.slice(0, from) + insert + text.slice(from + 1);
    case "repeat":
      return text.slice(0, lineEnd) + text.slice(lineStart);
  }
}

function expectSound(map: ImportedMap): void {
  expect(map.findings.length).toBeGreaterThan(0);
  for (const line of [...summaryLines(map), ...map.findings.map((finding) => finding.message)]) {
    expect(line).not.toMatch(/\n/);
  }
  for (const { span } of map.ranges) expect(isValidSpan(span)).toBe(true);
  if (!isImportable(map)) return;
  const [first, last] = [map.ranges[0], map.ranges.at(-1)];
  expect(first?.span.startKey).toHaveLength(0);
  expect(last !== undefined && last.span.endKey === undefined).toBe(true);
  for (const [at, range] of map.ranges.entries()) {
    const next = map.ranges[at + 1];
    if (next === undefined) continue;
    const { endKey } = range.span;
    expect(endKey !== undefined && bytesEqual(endKey, next.span.startKey)).toBe(true);
  }
}

test("a damaged map never throws, says something, and is importable only if it tiles", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...TEXTS),
      damages,
      fc.constantFrom(...MAP_FORMATS),
      fc.boolean(),
      (text, some, format, extendOuterBounds) => {
        const damaged = some.reduce(damage, text);
        expectSound(importMap(format, damaged, { extendOuterBounds }));
      },
    ),
    { numRuns: 1_000 },
  );
});

test("any text at all gives a map", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom(...MAP_FORMATS), (text, format) => {
      expectSound(importMap(format, text));
    }),
  );
});

test("a ring, a table or a list that was cut is never importable, wherever the cut is", () => {
  const whole = [
    ["cassandra-ring", fixture("ring-3node-1token-mintoken.txt").trimEnd()],
    ["tikv-regions", fixture("invented-regions-4.txt").replace(/\n4 rows[^]*$/, "")],
    ["tikv-regions", fixture("invented-pd-regions-4.json").trimEnd()],
    ["jsonl", generateMap({ ranges: 4, owners: 2, seed: 1 }).trimEnd()],
  ] as const;
  for (const [format, text] of whole) {
    const options = { extendOuterBounds: format !== "jsonl" };
    expect(isImportable(importMap(format, text, options))).toBe(true);
    for (let length = 0; length < text.length; length++) {
      const map = importMap(format, text.slice(0, length), options);
      if (isImportable(map))
        throw new Error(`importable: ${JSON.stringify(text.slice(0, length))}`);
    }
  }
});

test("chunks of a text give the same map as the text", () => {
  fc.assert(
    fc.property(fc.constantFrom(...TEXTS), fc.nat({ max: 90 }), (text, size) => {
      const chunks: string[] = [];
      for (let at = 0; at < text.length; at += size + 1) chunks.push(text.slice(at, at + size + 1));
      for (const format of MAP_FORMATS) {
        expect(importMap(format, chunks)).toEqual(importMap(format, text));
      }
    }),
    { numRuns: 20 },
  );
});

test("owner names and keys of a map survive as they were printed", () => {
  const map = importMap("jsonl", '{"end": "straße", "owner": "köln-1"}\n{"start": "straße"}\n');
  expect(map.owners[0]?.name).toBe("köln-1");
  expect(bytesToUtf8(map.ranges[0]?.span.endKey ?? utf8ToBytes(""))).toBe("straße");
});
