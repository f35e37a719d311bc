/**
 * The door of the importers: text of another system's map in, ranges and findings out. Total: any
 * text gives a map, and what is wrong with it is among its findings.
 */

import { assembleMap, type ParsedMap } from "./assemble.ts";
import { parseCassandraRing } from "./cassandra-ring.ts";
import type { ImportedMap, MapFormat } from "./imported-map.ts";
import { parseJsonl } from "./jsonl.ts";
import type { TextInput } from "./lines.ts";
import { parseTikvRegions } from "./tikv-regions.ts";

export interface ImportOptions {
  /** Stretches the first range to -inf and the last to +inf. Rings have no such ends. */
  readonly extendOuterBounds?: boolean;
  /** cassandra-ring: reads this datacenter's table only. */
  readonly datacenter?: string;
}

/** Chunks may be cut anywhere; they are read in order, line by line where the format allows. */
export function importMap(
  format: MapFormat,
  text: TextInput,
  options: ImportOptions = {},
): ImportedMap {
  const { extendOuterBounds = false } = options;
  return assembleMap(parse(format, text, options), { extendOuterBounds });
}

function parse(format: MapFormat, text: TextInput, options: ImportOptions): ParsedMap {
  switch (format) {
    case "jsonl":
      return parseJsonl(text);
    case "cassandra-ring":
      return parseCassandraRing(text, options);
    case "tikv-regions":
      return parseTikvRegions(text);
  }
}
