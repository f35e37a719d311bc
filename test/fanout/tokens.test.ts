/** Resume tokens and filter fingerprints: what was altered or belongs elsewhere is found out. */

import { expect, test } from "vitest";
import { bytesToHex, concatBytes, utf8ToBytes } from "../../src/base/bytes.ts";
import type { GroupId, Revision } from "../../src/base/brands.ts";
import { crc32c } from "../../src/base/crc32c.ts";
import { WHOLE_SPAN } from "../../src/base/span.ts";
import { filterFingerprint, type WatchFilter } from "../../src/fanout/filter.ts";
import { decodeToken, encodeToken, type WatchToken } from "../../src/fanout/tokens.ts";

const TOKEN: WatchToken = {
  clusterId: "c1",
  generation: 3,
  filterFingerprint: 0xdeadbeef,
  positions: [
    { group: 1 as GroupId, revision: (3 * 2 ** 44 + 7) as Revision },
    { group: 2 as GroupId, revision: 9 as Revision },
  ],
};

test("a token is read back as it was written, with its golden bytes", () => {
  const bytes = encodeToken(TOKEN);
  expect(decodeToken(bytes)).toEqual({ ok: true, value: TOKEN });
  // version, cluster, generation, fingerprint, positions (group, revision), checksum
  const body = "01 02 6331 03 effdb6f50d 02 01 8780808080800c 02 09".replaceAll(" ", "");
  expect(bytesToHex(bytes).slice(0, -8)).toBe(body);
});

test("cut, extended and altered tokens are refused", () => {
  const bytes = encodeToken(TOKEN);
  for (let length = 0; length < bytes.length; length++) {
    expect(decodeToken(bytes.subarray(0, length)).ok, `cut to ${length}`).toBe(false);
  }
  expect(decodeToken(new Uint8Array([...bytes, 0])).ok).toBe(false);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = bytes.slice();
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(decodeToken(altered).ok, `bit ${bit}`).toBe(false);
  }
  expect(decodeToken(new Uint8Array(4)).ok).toBe(false);
});

test("a token of another version says so, whatever follows its version", () => {
  for (const rest of [encodeToken(TOKEN).slice(1, -4), new Uint8Array([1, 2, 3])]) {
    const body = concatBytes(new Uint8Array([2]), rest);
    const checksum = new Uint8Array(4);
    new DataView(checksum.buffer).setUint32(0, crc32c(body));
    expect(decodeToken(concatBytes(body, checksum))).toEqual({
      ok: false,
      error: "its version is 2, not 1",
    });
  }
});

test("equal filters have equal fingerprints, others do not", () => {
  const filters: WatchFilter[] = [
    { keyspaceId: undefined, span: WHOLE_SPAN, nodeId: undefined },
    { keyspaceId: 0, span: WHOLE_SPAN, nodeId: undefined },
    { keyspaceId: 1, span: WHOLE_SPAN, nodeId: undefined },
    { keyspaceId: 1, span: WHOLE_SPAN, nodeId: "a" },
    { keyspaceId: 1, span: WHOLE_SPAN, nodeId: "" },
    { keyspaceId: 1, span: { startKey: utf8ToBytes("a"), endKey: undefined }, nodeId: undefined },
    {
      keyspaceId: 1,
      span: { startKey: utf8ToBytes("a"), endKey: utf8ToBytes("b") },
      nodeId: undefined,
    },
  ];
  const fingerprints = filters.map((filter) => filterFingerprint(filter));
  expect(new Set(fingerprints).size).toBe(filters.length);
  const again = filters.map((filter) => filterFingerprint(structuredClone(filter)));
  expect(again).toEqual(fingerprints);
});
