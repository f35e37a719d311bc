/**
 * The two kinds of pipes: grpc-js, as a Node client would be, and raw HTTP/2, which costs less than
 * a tenth of it, so that what is measured is the server and not the generator.
 */

import { Metadata } from "@grpc/grpc-js";
import { connect } from "./connections.ts";
import type { Pipe } from "./pipe.ts";
import { openRawPipe } from "./raw-pipe.ts";

export type PipeKind = "grpc-js" | "raw HTTP/2";

const CALL_TIMEOUT_MS = 10_000;
const NOTHING = Buffer.alloc(0);

export function openPipe(kind: PipeKind, address: string, path: string): Promise<Pipe> {
  if (kind === "raw HTTP/2") return openRawPipe(address, path, CALL_TIMEOUT_MS);
  return Promise.resolve(openGrpcPipe(address, path));
}

function openGrpcPipe(address: string, path: string): Pipe {
  const client = connect(address);
  return {
    call: (request, done) => {
      const options = { deadline: Date.now() + CALL_TIMEOUT_MS };
      const metadata = new Metadata();
      client.makeUnaryRequest<Buffer, Buffer>(
        path,
        asIs,
        asIs,
        request,
        metadata,
        options,
        (error, answer) => done(error ?? undefined, answer ?? NOTHING),
      );
    },
    close: () => client.close(),
  };
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}
