/**
 * Other names for the owners of an imported map, `--as OLD=NEW`: the storage nodes that shall own
 * what the other system's nodes owned. All renames take place at once, so two names can be swapped.
 */

import { failed, ok, type Result } from "../base/result.ts";
import { type ImportedMap, ownerCountFinding, ownersOf } from "./imported-map.ts";
import { type Finding, sortFindings } from "./findings.ts";
import { checkOwnerName } from "./owner-name.ts";

/**
 * `renames` is from OLD to NEW. Refuses an OLD that owns nothing, naming the owners that there are,
 * and a NEW that is no name.
 */
export function renameOwners(
  map: ImportedMap,
  renames: Readonly<Record<string, string>>,
): Result<ImportedMap, string> {
  const newNames = new Map(Object.entries(renames));
  const oldNames = new Set(map.owners.map((owner) => owner.name));
  for (const [oldName, newName] of newNames) {
    if (!oldNames.has(oldName)) {
      return failed(`no owner is called ${oldName}; there are ${listNames([...oldNames])}`);
    }
    const checked = checkOwnerName(newName);
    if (!checked.ok) return failed(`${oldName}=${newName}: ${checked.error}`);
  }
  const rename = (name: string): string => newNames.get(name) ?? name;
  const ranges = map.ranges.map((range) =>
    range.owner === undefined ? range : { ...range, owner: rename(range.owner) },
  );
  const oldNamesOf = new Map<string, string[]>();
  const addresses = new Map<string, string>();
  for (const { name, address } of map.owners) {
    oldNamesOf.set(rename(name), [...(oldNamesOf.get(rename(name)) ?? []), name]);
    if (address !== undefined) addresses.set(rename(name), address);
  }
  const merged = [...oldNamesOf].filter(([, names]) => names.length > 1);
  const isMerged = (name: string): boolean => merged.some(([newName]) => newName === name);
  const owners = ownersOf(ranges, (name) => (isMerged(name) ? undefined : addresses.get(name)));
  const findings: Finding[] = map.findings.filter((finding) => finding.kind !== "ownerCount");
  for (const [newName, names] of merged) {
    const message = `${listNames(names)} become one owner, ${newName}`;
    findings.push({ kind: "mergedOwners", severity: "warning", message, lines: [] });
  }
  findings.push(ownerCountFinding(owners));
  const findingCounts = new Map(map.findingCounts);
  if (merged.length > 0) findingCounts.set("mergedOwners", merged.length);
  return ok({ ...map, ranges, owners, findings: sortFindings(findings), findingCounts });
}

const NAMES_SHOWN_MAX = 20;

function listNames(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length - NAMES_SHOWN_MAX;
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}
