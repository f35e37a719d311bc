/** Requests for snapshots and their chunks on the wire. */

import { expect, test } from "vitest";
import { PEER_SERVICE } from "../../src/net/peer-channel.ts";
import type { SnapshotChunk } from "../../src/replica/ports.ts";
import type { FetchSnapshotRequest } from "../../src/wire/generated/cadastre/peer/v1/FetchSnapshotRequest.ts";
import type { SnapshotChunk as ProtoChunk } from "../../src/wire/generated/cadastre/peer/v1/SnapshotChunk.ts";
import {
  chunkToProto,
  fetchSnapshotToProto,
  protoToChunk,
  protoToFetchSnapshot,
  type RequestedSnapshot,
  SNAPSHOT_CHUNK_BYTES_MAX,
} from "../../src/wire/peer-snapshot.ts";

const { FetchSnapshot } = PEER_SERVICE;

const REQUEST = {
  ids: { protocolVersion: 1, clusterId: "a", from: 1, to: 2 },
  request: { name: { group: 0, position: { index: 7, term: 2, timeMs: 900 } }, offset: 4_096 },
} as RequestedSnapshot;

const CHUNK: SnapshotChunk = { fileBytes: 10, offset: 6, bytes: new Uint8Array([1, 2, 3]) };

function receivedRequest(proto: FetchSnapshotRequest): ReturnType<typeof protoToFetchSnapshot> {
  const bytes = FetchSnapshot.requestSerialize(proto);
  return protoToFetchSnapshot(FetchSnapshot.requestDeserialize(bytes));
}

function receivedChunk(proto: ProtoChunk): ReturnType<typeof protoToChunk> {
  return protoToChunk(FetchSnapshot.responseDeserialize(FetchSnapshot.responseSerialize(proto)));
}

test("a request arrives as it was sent", () => {
  expect(receivedRequest(fetchSnapshotToProto(REQUEST))).toEqual({ ok: true, value: REQUEST });
});

test.each<[FetchSnapshotRequest, string]>([
  [{ fromServer: 0 }, "fromServer"],
  [{ group: "9007199254740993" }, "group"],
  [{ lastIndex: 0 }, "lastIndex"],
  [{ lastTerm: 0 }, "lastTerm"],
  [{ lastTimeMs: "18446744073709551615" }, "lastTimeMs"],
  [{ offset: "18446744073709551615" }, "offset"],
])("a request with %j is refused and names the field %s (law 33)", (change, field) => {
  const request = receivedRequest({ ...fetchSnapshotToProto(REQUEST), ...change });
  expect(request).toMatchObject({ ok: false, error: { field } });
});

test("a chunk arrives as it was sent, up to the file's last byte", () => {
  for (const chunk of [CHUNK, { ...CHUNK, offset: 7 }]) {
    const received = receivedChunk(chunkToProto(chunk));
    if (!received.ok) throw new Error(received.error.problem);
    expect({ ...received.value, bytes: new Uint8Array(received.value.bytes) }).toEqual(chunk);
  }
});

test.each<[string, ProtoChunk, string]>([
  ["no file", { fileBytes: 0 }, "fileBytes"],
  ["no data", { data: new Uint8Array(0) }, "data"],
  ["data beyond the end", { offset: 8 }, "data"],
  ["too much data", { data: new Uint8Array(SNAPSHOT_CHUNK_BYTES_MAX + 1) }, "data"],
  ["a flipped bit", { data: new Uint8Array([1, 2, 2]) }, "checksum"],
  ["another checksum", { checksum: 1 }, "checksum"],
])("a chunk with %s is refused and names its field", (_what, change, field) => {
  const chunk = receivedChunk({ ...chunkToProto(CHUNK), ...change });
  expect(chunk).toMatchObject({ ok: false, error: { field } });
});
