// Expected numbers were counted from the files by other means than this importer.
import { expect, test } from "vitest";
import { importMap } from "../../src/importers/import-map.ts";
import { isImportable } from "../../src/importers/imported-map.ts";
import { TOKEN_MAX, TOKEN_MIN, tokenToKey } from "../../src/keys/token.ts";
import { boundaryTokens, findingsOf, fixture, kindsOf, ownerOfKey, rangeTexts } from "./maps.ts";

const RING = "cassandra-ring";

function importFixture(name: string): ReturnType<typeof importMap> {
  return importMap(RING, fixture(name));
}

/** Tokens held by each owner, in the whole ring. */
function tokensOfOwner(map: ReturnType<typeof importMap>): Map<string, bigint> {
  const bounds = [TOKEN_MIN, ...boundaryTokens(map), TOKEN_MAX + 1n];
  const shares = new Map<string, bigint>();
  for (const [at, { owner = "-" }] of map.ranges.entries()) {
    const width = (bounds[at + 1] ?? 0n) - (bounds[at] ?? 0n);
    shares.set(owner, (shares.get(owner) ?? 0n) + width);
  }
  return shares;
}

function percent(share: bigint | undefined): string {
  return (Number(((share ?? 0n) * 10_000n * 2n) / 2n ** 64n + 1n) / 200).toFixed(2);
}

test("a ring of 3 nodes with 32 tokens each has 96 ranges and tiles (DSE)", () => {
  const map = importFixture("ring-dse67-3node-32vnodes.txt");
  expect(isImportable(map)).toBe(true);
  expect(map).toMatchObject({ kind: "hash", hashFunction: "given", sourceRanges: 96 });
  // The range that wraps is two of ours.
  expect(map.ranges).toHaveLength(97);
  const lines = new Map<string, Set<number>>();
  for (const { owner = "-", source } of map.ranges) {
    lines.set(owner, (lines.get(owner) ?? new Set()).add(source.line));
  }
  expect([...lines].map(([owner, own]) => `${owner} ${own.size}`)).toEqual([
    "10.101.33.205 32",
    "10.101.35.102 32",
    "10.101.35.71 32",
  ]);
  const shares = tokensOfOwner(map);
  expect(percent(shares.get("10.101.33.205"))).toBe("31.91");
  expect(percent(shares.get("10.101.35.102"))).toBe("35.36");
  expect(percent(shares.get("10.101.35.71"))).toBe("32.73");
  expect(kindsOf(map, "error")).toEqual([]);
  expect(kindsOf(map, "warning")).toEqual([]);
  expect(findingsOf(map, "wrapping")[0]?.message).toBe(
    "(9106197761735067968, -9157449817647104998] (line 6) wraps: kept as two ranges of one owner",
  );
});

test("a token belongs to the node that sits on it, the next token to the next node", () => {
  const map = importFixture("ring-dse67-3node-32vnodes.txt");
  const ownerOf = (token: bigint): string | undefined => ownerOfKey(map, tokenToKey(token));
  expect(ownerOf(-8926528155291256647n)).toBe("10.101.35.102");
  expect(ownerOf(-8926528155291256646n)).toBe("10.101.35.71");
  expect(ownerOf(9106197761735067968n)).toBe("10.101.35.71");
  expect(ownerOf(9106197761735067969n)).toBe("10.101.33.205");
  expect(ownerOf(TOKEN_MAX)).toBe("10.101.33.205");
  expect(ownerOf(TOKEN_MIN)).toBe("10.101.33.205");
  expect(ownerOf(-9157449817647104998n)).toBe("10.101.33.205");
  expect(ownerOf(-9157449817647104997n)).toBe("10.101.35.102");
});

test("a node on the smallest token owns that token and all after the largest", () => {
  const map = importFixture("ring-3node-1token-mintoken.txt");
  expect(isImportable(map)).toBe(true);
  expect(map.sourceRanges).toBe(3);
  expect(boundaryTokens(map)).toEqual([
    TOKEN_MIN + 1n,
    -3074457345618258602n,
    3074457345618258603n,
  ]);
  expect(map.ranges.map((range) => range.owner)).toEqual([
    "10.101.35.67",
    "10.101.34.223",
    "10.101.34.191",
    "10.101.35.67",
  ]);
  for (const share of tokensOfOwner(map).values()) expect(percent(share)).toMatch(/^33\.3[34]$/);
});

test("one node with one token owns the whole ring", () => {
  const map = importFixture("ring-1node-1token.txt");
  expect(rangeTexts(map)).toEqual(["[-inf, +inf) 10.172.0.2 @6"]);
  expect(map.owners).toEqual([{ name: "10.172.0.2", address: "10.172.0.2", ranges: 1 }]);
  expect(isImportable(map)).toBe(true);
  expect(findingsOf(map, "wrapping")[0]?.message).toContain("is the whole ring");
});

test("described ranges with holes are refused, and each hole of the ring is named once", () => {
  const map = importFixture("describering-6ranges-with-gaps-2dc.txt");
  expect(isImportable(map)).toBe(false);
  expect(map.ranges).toHaveLength(6);
  expect(map.owners).toHaveLength(4);
  expect(kindsOf(map, "error")).toEqual(["gap"]);
  const gaps = findingsOf(map, "gap").map((finding) => finding.message);
  expect(gaps).toHaveLength(6);
  expect(gaps[0]).toBe(
    "nothing covers tokens -8182289314504856690 to -2246208089217404881, between lines 2 and 3",
  );
  // The last hole lies across the ends of the token space.
  expect(gaps[5]).toBe(
    "nothing covers tokens 8568577617447026632 to 9223372036854775807 and " +
      "tokens -9223372036854775808 to -8547872176065322335, between lines 5 and 2",
  );
  expect(findingsOf(map, "datacenterConflict").map((finding) => finding.message)).toEqual([
    "10.244.2.5 is said to be in dc1 and dc2",
    "10.244.2.6 is said to be in dc1 and dc2",
  ]);
});

test("a ring's holes are not closed by extending outer bounds", () => {
  const text = fixture("describering-6ranges-with-gaps-2dc.txt");
  const map = importMap(RING, text, { extendOuterBounds: true });
  expect(findingsOf(map, "gap")).toHaveLength(6);
});

// Facts: [key, its Murmur3 token, the ring's next token, the node that owned the key], as three
// listings of one cluster of two nodes on one address gave them.
const OWNED_KEYS = [
  [1, "-4069959284402364209", "-3838100728625535792", "127.0.0.1:7000"],
  [2, "-3248873570005575792", "-2993724081134374036", "127.0.0.1:7000"],
  [3, "9010454139840013625", "-8782219492892387546", "127.0.0.1:7000"],
  [4, "-2729420104000364805", "-2193895410473243752", "127.0.0.1:8000"],
  [5, "-7509452495886106294", "-7149455155260244352", "127.0.0.1:8000"],
  [6, "2705480034054113608", "3165239676399493005", "127.0.0.1:7000"],
  [7, "1634052884888577606", "1948870471423419075", "127.0.0.1:8000"],
  [8, "-3799847372828181882", "-2993724081134374036", "127.0.0.1:7000"],
  [9, "3728482343045213994", "3825934800936405104", "127.0.0.1:8000"],
  [10, "-6715243485458697746", "-6025439739552686341", "127.0.0.1:7000"],
] as const;

test("ten keys have the owners that Cassandra named, nodes told apart by their ports", () => {
  const ownerOfToken = new Map(OWNED_KEYS.map(([, , token, owner]) => [token as string, owner]));
  const tokens = [...ownerOfToken.keys()].toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const row = (token: string): string =>
    `${ownerOfToken.get(token)}  rack1       Up     Normal  99.5 KiB        50.00%     ${token}`;
  const table = ["Datacenter: dc", "==========", ` ${tokens.at(-1)}`, ...tokens.map(row), ""];
  const map = importMap(RING, table.join("\r\n"));
  expect(isImportable(map)).toBe(true);
  expect(map.sourceRanges).toBe(9);
  for (const [key, token, , owner] of OWNED_KEYS) {
    expect([key, ownerOfKey(map, tokenToKey(BigInt(token)))]).toEqual([key, owner]);
  }
});

test("the tables of several datacenters are one ring, and joining nodes own nothing", () => {
  const map = importFixture("invented-ring-2dc-ports.txt");
  expect(isImportable(map)).toBe(true);
  expect(boundaryTokens(map)).toEqual([
    -6000000000000000000n,
    -4000000000000000006n,
    -2000000000000000002n,
    2000000000000000004n,
    6000000000000000002n,
  ]);
  expect(map.ranges.map((range) => range.owner?.slice(-4))).toEqual([
    "7101",
    "7201",
    "7102",
    "7102",
    "7101",
    "7201",
  ]);
  expect(map.sourceRanges).toBe(6);
  expect(kindsOf(map, "warning")).toEqual(["severalDatacenters", "joiningOwner"]);
  expect(findingsOf(map, "joiningOwner")[0]?.message).toBe(
    "line 16: 127.0.0.1:7202 is joining and owns nothing yet",
  );
  // A token at the top of the space leaves nothing to wrap.
  expect(findingsOf(map, "wrapping")).toEqual([]);
});

test("one datacenter's table can be read alone, and an unknown one is named", () => {
  const text = fixture("invented-ring-2dc-ports.txt");
  const north = importMap(RING, text, { datacenter: "north" });
  expect(isImportable(north)).toBe(true);
  expect(north.owners.map((owner) => owner.name)).toEqual(["127.0.0.1:7101", "127.0.0.1:7102"]);
  expect(north.sourceRanges).toBe(4);
  const east = importMap(RING, text, { datacenter: "east" });
  expect(isImportable(east)).toBe(false);
  expect(findingsOf(east, "severalDatacenters")[0]?.message).toBe(
    "no table is of datacenter east; there are north, south",
  );
});

test("a table that was cut is refused, wherever the cut is", () => {
  const text = fixture("ring-dse67-3node-32vnodes.txt");
  const lines = text.split("\n");
  const cutAfter = (count: number): string => `${lines.slice(0, count).join("\n")}\n`;
  // After the first line of the table, after a row, within a row, within a row's token.
  for (const cut of [cutAfter(5), cutAfter(50), text.slice(0, 5_000), text.slice(0, 5_065)]) {
    const map = importMap(RING, cut);
    expect(kindsOf(map, "error")).toContain("truncated");
    expect(isImportable(map)).toBe(false);
  }
  const headless = lines.filter((_, at) => at !== 4).join("\n");
  expect(kindsOf(importMap(RING, headless), "error")).toEqual(["truncated"]);
});

const HEAD = ["Datacenter: dc", "==========", "Address  Rack  Status State  Load  Owns  Token"];
const row = (token: string, address = "10.0.0.1"): string =>
  `${address}  r1  Up  Normal  1 KB  ?  ${token}`;

test.each([
  ["a token twice", ["9", row("5"), row("5", "10.0.0.2"), row("9")], "duplicate"],
  ["tokens that do not ascend", ["5", row("9"), row("5")], "unsorted"],
  ["a token that is no 64-bit number", [row("9223372036854775808")], "malformedLine"],
  ["a token with a letter", ["9", row("5"), row("7O"), row("9")], "malformedLine"],
  ["a token without an address", ["9", row("5"), "7", row("9")], "malformedLine"],
  [
    "a row without its token",
    ["9", "10.0.0.1  r1  Up  Normal  1 KB  ?", row("9")],
    "malformedLine",
  ],
  ["a line of another kind", [row("5"), "java.lang.NullPointerException"], "malformedLine"],
  ["a very long line", [row("5"), `Up ${"Up Normal ".repeat(200_000)}`], "malformedLine"],
])("%s is an error", (_, rows, kind) => {
  const map = importMap(RING, `${[...HEAD, ...rows].join("\n")}\n`);
  expect(kindsOf(map, "error")).toContain(kind);
  expect(isImportable(map)).toBe(false);
});

const tokenRange = (start: string, end: string, endpoints = "10.0.0.1, 10.0.0.2"): string =>
  `TokenRange(start_token:${start}, end_token:${end}, endpoints:[${endpoints}], rpc_endpoints:[])`;

test("described ranges give their first endpoint the tokens, extreme ones included", () => {
  const text = [
    "Schema Version:5f3c8b7e-0000-3000-8000-000000000000",
    "TokenRange: ",
    `\t${tokenRange(String(TOKEN_MAX), "7", "10.0.0.3")}`,
    `\t${tokenRange("7", String(TOKEN_MAX))}`,
    "",
  ].join("\n");
  const map = importMap(RING, text);
  expect(isImportable(map)).toBe(true);
  expect(boundaryTokens(map)).toEqual([8n]);
  expect(map.ranges.map((range) => range.owner)).toEqual(["10.0.0.3", "10.0.0.1"]);

  const fromMin = importMap(
    RING,
    `${tokenRange(String(TOKEN_MIN), "7")}\n${tokenRange("7", String(TOKEN_MIN))}\n`,
  );
  expect(isImportable(fromMin)).toBe(true);
  expect(boundaryTokens(fromMin)).toEqual([TOKEN_MIN + 1n, 8n]);
  expect(isImportable(importMap(RING, `${tokenRange("3", "3")}\n`))).toBe(true);
});

test("described ranges that overlap, repeat, have no endpoint or were cut are found", () => {
  const findings = (...lines: string[]): string[] => {
    const map = importMap(RING, lines.join("\n"));
    return [...kindsOf(map, "error"), ...kindsOf(map, "warning")];
  };
  expect(findings(tokenRange("1", "9"), tokenRange("5", "1"))).toEqual(["overlap"]);
  expect(findings(tokenRange("9", "1"), tokenRange("1", "9"), tokenRange("1", "9"))).toEqual([
    "duplicate",
  ]);
  expect(findings(tokenRange("3", "3", ""))).toEqual(["missingOwner"]);
  const cut = tokenRange("1", "9").slice(0, -4);
  expect(findings(tokenRange("9", "1"), cut)).toEqual(["truncated", "gap"]);
  expect(findings(tokenRange("9", "1"), cut, "")).toEqual(["malformedLine", "gap"]);
  expect(findings(...HEAD, row("5"), tokenRange("5", "5"))).toContain("malformedLine");
});

test("other commands' answers are not taken for a ring", () => {
  const map = importFixture("dsetool-ring-dse67-3node.txt");
  expect(map.ranges).toEqual([]);
  expect(kindsOf(map, "error")).toEqual(["malformedLine", "noRanges"]);
});
