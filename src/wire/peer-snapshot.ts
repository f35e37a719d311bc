/**
 * Snapshot files between servers: requests and chunks to cadastre.peer.v1 and back, total in both
 * directions. A chunk whose checksum does not match is refused like any other bad field.
 */

import type { GroupId, LogIndex, LogTimeMs, Term } from "../base/brands.ts";
import { crc32c } from "../base/crc32c.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { SnapshotChunk, SnapshotRequest } from "../replica/ports.ts";
import { Fields, type InvalidArgument } from "./fields.ts";
import type {
  FetchSnapshotRequest,
  FetchSnapshotRequest__Output,
} from "./generated/cadastre/peer/v1/FetchSnapshotRequest.ts";
import type {
  SnapshotChunk as ProtoChunk,
  SnapshotChunk__Output,
} from "./generated/cadastre/peer/v1/SnapshotChunk.ts";
import { type PeerIds, protoToIds } from "./peer-forward.ts";

/** Large enough that a chunk's cost is its bytes, small beside what a connection may hold. */
export const SNAPSHOT_CHUNK_BYTES_MAX: number = 256 * 1024;

export interface RequestedSnapshot {
  readonly ids: PeerIds;
  readonly request: SnapshotRequest;
}

export function fetchSnapshotToProto({ ids, request }: RequestedSnapshot): FetchSnapshotRequest {
  const { group, position } = request.name;
  return {
    protocolVersion: ids.protocolVersion,
    clusterId: ids.clusterId,
    fromServer: ids.from,
    toServer: ids.to,
    group,
    lastIndex: position.index,
    lastTerm: position.term,
    lastTimeMs: position.timeMs,
    offset: request.offset,
  };
}

export function protoToFetchSnapshot(
  proto: FetchSnapshotRequest__Output,
): Result<RequestedSnapshot, InvalidArgument> {
  const fields = new Fields();
  const ids = protoToIds(proto, fields);
  const group = fields.integer(proto.group, "group") as GroupId;
  const position = {
    index: fields.integer(proto.lastIndex, "lastIndex", 1) as LogIndex,
    term: fields.integer(proto.lastTerm, "lastTerm", 1) as Term,
    timeMs: fields.integer(proto.lastTimeMs, "lastTimeMs") as LogTimeMs,
  };
  const offset = fields.integer(proto.offset, "offset");
  if (fields.error !== undefined) return failed(fields.error);
  return ok({ ids, request: { name: { group, position }, offset } });
}

export function chunkToProto({ fileBytes, offset, bytes }: SnapshotChunk): ProtoChunk {
  return { fileBytes, offset, data: bytes, checksum: crc32c(bytes) };
}

export function protoToChunk(proto: SnapshotChunk__Output): Result<SnapshotChunk, InvalidArgument> {
  const fields = new Fields();
  const fileBytes = fields.integer(proto.fileBytes, "fileBytes", 1);
  const offset = fields.integer(proto.offset, "offset");
  const bytes = fields.bytes(proto.data, "data", SNAPSHOT_CHUNK_BYTES_MAX);
  if (proto.data.length === 0) fields.refuse("data", "is empty");
  if (offset + bytes.length > fileBytes) fields.refuse("data", "goes beyond the file's end");
  if (crc32c(bytes) !== proto.checksum) fields.refuse("checksum", "does not match the data");
  if (fields.error !== undefined) return failed(fields.error);
  return ok({ fileBytes, offset, bytes });
}
