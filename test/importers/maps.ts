// What the importers' tests share: the fixtures, and maps in a form that is easy to compare.
import { readFileSync } from "node:fs";
import type { Finding, Severity } from "../../src/importers/findings.ts";
import type { ImportedMap } from "../../src/importers/imported-map.ts";
import { spanToText } from "../../src/keys/span-text.ts";
import { keyToToken } from "../../src/keys/token.ts";
import { defined } from "../../src/base/assert.ts";
import { spanContains } from "../../src/base/span.ts";
import type { Bytes } from "../../src/base/bytes.ts";

export function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/maps/${name}`, import.meta.url), "utf8");
}

/** `[a, b) node-1 @3`, the line last. */
export function rangeTexts(map: ImportedMap): string[] {
  return map.ranges.map(
    ({ span, owner, source }) => `${spanToText(span)} ${owner ?? "-"} @${source.line}`,
  );
}

/** Kinds of this severity, in the map's order, each once. */
export function kindsOf(map: ImportedMap, severity: Severity): string[] {
  const found = map.findings.filter((finding) => finding.severity === severity);
  return [...new Set(found.map((finding) => finding.kind))];
}

export function findingsOf(map: ImportedMap, kind: Finding["kind"]): Finding[] {
  return map.findings.filter((finding) => finding.kind === kind);
}

export function ownerOfKey(map: ImportedMap, key: Bytes): string | undefined {
  const holding = map.ranges.filter(({ span }) => spanContains(span, key));
  return holding.length === 1 ? holding[0]?.owner : `held by ${holding.length} ranges`;
}

/** Tokens of the map's boundaries, in order. */
export function boundaryTokens(map: ImportedMap): bigint[] {
  return map.ranges.slice(1).map(({ span }) => {
    const token = keyToToken(span.startKey);
    return defined(token.ok ? token.value : undefined, "a boundary is a token");
  });
}
