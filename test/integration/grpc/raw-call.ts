// Calls over bare HTTP/2, whose flow control a test can hold in its hands: a window of zero is a
// reader that takes nothing.
import { type ClientHttp2Stream, connect, type IncomingHttpHeaders } from "node:http2";
import { onCleanup, until } from "./harness.ts";

const PREFIX_BYTES = 5;

export interface RawCall {
  readonly stream: ClientHttp2Stream;
  /** Messages that have arrived, as hex. */
  readonly messages: string[];
  /** grpc-status, when the server has ended the call. */
  readonly status: () => number | undefined;
  /** Resolves when the connection has taken the message. */
  readonly send: (message: Buffer) => Promise<void>;
  /** From now on the reader takes what there is. */
  readonly read: () => void;
  /** Resolves with the status. */
  readonly end: () => Promise<number>;
}

export function rawCall(address: string, path: string, windowBytes = 65_535): RawCall {
  const session = connect(`http://${address}`, { settings: { initialWindowSize: windowBytes } });
  onCleanup(() => session.destroy());
  session.on("error", () => {});
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => {});
  let status: number | undefined;
  const onHeaders = (headers: IncomingHttpHeaders): void => {
    if (headers["grpc-status"] !== undefined) status = Number(headers["grpc-status"]);
  };
  stream.on("response", onHeaders);
  stream.on("trailers", onHeaders);
  const messages: string[] = [];
  let rest = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= PREFIX_BYTES) {
      const endByte = PREFIX_BYTES + rest.readUInt32BE(1);
      if (rest.length < endByte) break;
      messages.push(rest.toString("hex", PREFIX_BYTES, endByte));
      rest = rest.subarray(endByte);
    }
  });
  return {
    stream,
    messages,
    status: () => status,
    send: (message) => {
      const prefix = Buffer.alloc(PREFIX_BYTES);
      prefix.writeUInt32BE(message.length, 1);
      return new Promise((resolve) => {
        stream.write(Buffer.concat([prefix, message]), () => resolve());
      });
    },
    read: () => session.settings({ initialWindowSize: 65_535 }),
    end: async () => {
      await until(() => status !== undefined);
      return status ?? -1;
    },
  };
}
