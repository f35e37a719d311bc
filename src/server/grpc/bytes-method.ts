/**
 * Methods as grpc-js is told of them: to it every message is bytes, so that conversions and their
 * errors are ours.
 */

import type { MethodDefinition } from "@grpc/grpc-js";

export function bytesMethod(
  path: string,
  streams: { readonly requestStream?: boolean; readonly responseStream?: boolean },
): MethodDefinition<Buffer, Buffer> {
  return {
    path,
    requestStream: streams.requestStream === true,
    responseStream: streams.responseStream === true,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}
