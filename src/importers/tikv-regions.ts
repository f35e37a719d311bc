/**
 * TiKV's regions: the answer of `SHOW TABLE ... REGIONS` as the mysql client draws it, or of
 * `pd-ctl region` in JSON. Owner is the store of the region's leader, as `store-<id>`.
 *
 * In tables a key is TiDB's display form of it (`t_75_r_31717`), kept as its UTF-8 bytes; a key
 * that TiDB did not decode is printed in hex and kept as those bytes. In JSON keys are hex always.
 */

import { isValidSpan } from "../base/span.ts";
import type { ParsedMap } from "./assemble.ts";
import { FindingList, linesToText } from "./findings.ts";
import type { ImportedRange } from "./imported-map.ts";
import { type TextInput, wholeText } from "./lines.ts";
import { invertedText } from "./span-name.ts";
import { readRegionsJson } from "./tikv-json.ts";
import type { Region } from "./tikv-region.ts";
import { readRegionsTable } from "./tikv-table.ts";

export function parseTikvRegions(input: TextInput): ParsedMap {
  const text = wholeText(input);
  const findings = new FindingList();
  const isJson = /^\s*[{[]/.test(text);
  const regions = isJson ? readRegionsJson(text, findings) : readRegionsTable(text, findings);
  noteRepeatedIds(regions, findings);
  noteMissing(regions, findings);
  const ranges: ImportedRange[] = [];
  for (const region of regions) {
    const { span, leaderStoreId, line, regionId } = region;
    if (!isValidSpan(span)) {
      const message = `line ${line}: ${invertedText(span)}${orderHint(isJson)}`;
      findings.error("inverted", [line], message);
      continue;
    }
    const owner = leaderStoreId === "" ? undefined : `store-${leaderStoreId}`;
    ranges.push({ span, owner, source: { line }, sourceId: regionId });
  }
  return {
    format: "tikv-regions",
    kind: "range",
    ranges,
    sourceRanges: regions.length,
    findings,
  };
}

function orderHint(isJson: boolean): string {
  return isJson ? "" : " (display forms are compared as text; pd-ctl region gives the keys)";
}

function noteRepeatedIds(regions: readonly Region[], findings: FindingList): void {
  const lineOfId = new Map<string, number>();
  for (const { regionId, line } of regions) {
    const before = lineOfId.get(regionId);
    if (before !== undefined) {
      const lines = [before, line];
      const message = `region ${regionId} occurs twice (${linesToText(lines)})`;
      findings.error("duplicate", lines, message);
    }
    lineOfId.set(regionId, line);
  }
}

function noteMissing(regions: readonly Region[], findings: FindingList): void {
  const leaderless = regions.filter((region) => region.leaderStoreId === "");
  if (leaderless.length > 0) {
    const lines = leaderless.map((region) => region.line);
    findings.warning("missingOwner", lines, `regions without a leader: ${linesToText(lines)}`);
  }
  const emptyEnds = regions.filter((region) => region.hasEmptyBoundary);
  if (emptyEnds.length > 0) {
    const lines = emptyEnds.map((region) => region.line);
    const message = `empty boundaries are open ends: ${linesToText(lines)}`;
    findings.info("emptyBoundary", lines, message);
  }
}
