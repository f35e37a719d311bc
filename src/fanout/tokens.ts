/**
 * Resume tokens: where a watch stands in every group that it covers, bound to the cluster, to the
 * generation and to the filter. Opaque to clients; a checksum finds cut and altered ones.
 */

import type { Bytes } from "../base/bytes.ts";
import { concatBytes } from "../base/bytes.ts";
import type { GroupId, Revision } from "../base/brands.ts";
import {
  brandedUint,
  type Codec,
  decode,
  encode,
  list,
  struct,
  text,
  uint,
} from "../base/codec.ts";
import { crc32c } from "../base/crc32c.ts";
import { failed, ok, type Result } from "../base/result.ts";

/** The first byte; below 128, so that it is its own varint. Version history: 1, the first. */
const TOKEN_VERSION = 1;
const CHECKSUM_BYTES = 4;

export interface WatchToken {
  readonly clusterId: string;
  readonly generation: number;
  readonly filterFingerprint: number;
  /** Delivered up to here, group by group. */
  readonly positions: readonly TokenPosition[];
}

export interface TokenPosition {
  readonly group: GroupId;
  readonly revision: Revision;
}

interface VersionedToken extends WatchToken {
  readonly version: number;
}

const tokenCodec: Codec<VersionedToken> = struct<VersionedToken>({
  version: uint,
  clusterId: text,
  generation: uint,
  filterFingerprint: uint,
  positions: list(
    struct<TokenPosition>({
      group: brandedUint<GroupId>(),
      revision: brandedUint<Revision>(),
    }),
  ),
});

export function encodeToken(token: WatchToken): Bytes {
  const body = encode(tokenCodec, { version: TOKEN_VERSION, ...token });
  return concatBytes(body, checksumOf(body));
}

export function decodeToken(bytes: Bytes): Result<WatchToken, string> {
  const split = bytes.length - CHECKSUM_BYTES;
  if (split <= 0) return failed("it is cut short");
  const body = bytes.subarray(0, split);
  const expected = checksumOf(body);
  if (!expected.every((byte, at) => byte === bytes[split + at])) {
    return failed("its checksum does not match");
  }
  if (body[0] !== TOKEN_VERSION) {
    return failed(`its version is ${body[0]}, not ${TOKEN_VERSION}`);
  }
  const decoded = decode(tokenCodec, body);
  if (!decoded.ok) return failed(decoded.error);
  const { version: _, ...token } = decoded.value;
  return ok(token);
}

function checksumOf(body: Bytes): Bytes {
  const bytes = new Uint8Array(CHECKSUM_BYTES);
  new DataView(bytes.buffer).setUint32(0, crc32c(body));
  return bytes;
}
