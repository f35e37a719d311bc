/**
 * Unary gRPC calls over HTTP/2 (RFC 9113) written by hand: the same few bytes of headers for every
 * call, and answers of which only the body and the status are looked at. It understands what a gRPC
 * server sends to a well-behaved client, and fails loudly on anything else.
 *
 * The server is told to keep no header table, so a status always comes as a literal.
 */

import { connect as connectTcp, type Socket } from "node:net";
import { firstHeaderBlock, laterHeaderBlock, statusIn } from "./raw-headers.ts";
import type { Done, Pipe } from "./pipe.ts";

const FRAME = {
  data: 0,
  headers: 1,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
} as const;
const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8 } as const;
const SETTING = { headerTableSize: 1, enablePush: 2, initialWindowSize: 4 } as const;

const STATUS_OK = 0;
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME_HEADER_BYTES = 9;
/** Of every message on a gRPC stream: a flag and the length. */
const MESSAGE_HEADER_BYTES = 5;
/** A request must fit the smallest frame that every receiver takes. */
const REQUEST_BYTES_MAX = 16 * 1024 - MESSAGE_HEADER_BYTES;
const DEFAULT_WINDOW_BYTES = 65_535;
const WINDOW_BYTES_MAX = 2 ** 31 - 1;
/** Given back to the sender in pieces of this size. */
const WINDOW_STEP_BYTES = 2 ** 20;
const NOTHING = Buffer.alloc(0);

export async function openRawPipe(
  address: string,
  path: string,
  callTimeoutMs: number,
): Promise<Pipe> {
  const at = address.lastIndexOf(":");
  const socket = connectTcp({ host: address.slice(0, at), port: Number(address.slice(at + 1)) });
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", () => resolve());
    socket.once("error", reject);
  });
  return new RawPipe(socket, { authority: address, path, timeout: `${callTimeoutMs}m` });
}

interface OpenCall {
  readonly done: Done;
  body: Buffer;
}

class RawPipe implements Pipe {
  readonly #socket: Socket;
  readonly #laterBlock: Buffer;
  #nextBlock: Buffer;
  readonly #calls = new Map<number, OpenCall>();
  #nextStreamId = 1;
  #received: Buffer = NOTHING;
  #unacknowledgedBytes = 0;
  /** What may still be sent on the connection; a request waits until all of it may. */
  #windowBytes = DEFAULT_WINDOW_BYTES;
  #waiting: { readonly request: Buffer; readonly done: Done }[] = [];
  /** Frames of one turn of the event loop leave in one write. */
  #outgoing: Buffer[] = [];
  #broken: Error | undefined;

  constructor(socket: Socket, headers: Parameters<typeof firstHeaderBlock>[0]) {
    this.#socket = socket;
    this.#nextBlock = firstHeaderBlock(headers);
    this.#laterBlock = laterHeaderBlock();
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => this.#break(error));
    socket.on("close", () => this.#break(new Error("the server has closed the connection")));
    this.#write(Buffer.from(PREFACE));
    const settings = Buffer.alloc(18);
    settings.writeUInt16BE(SETTING.headerTableSize, 0);
    settings.writeUInt16BE(SETTING.enablePush, 6);
    settings.writeUInt16BE(SETTING.initialWindowSize, 12);
    settings.writeUInt32BE(WINDOW_BYTES_MAX, 14);
    this.#write(frame(FRAME.settings, 0, 0, settings));
    this.#write(windowUpdate(WINDOW_BYTES_MAX - DEFAULT_WINDOW_BYTES));
  }

  call(request: Buffer, done: Done): void {
    if (request.length > REQUEST_BYTES_MAX) {
      this.#break(new Error(`a request of ${request.length} bytes is too long for this generator`));
    }
    if (this.#broken !== undefined) {
      const error = this.#broken;
      setImmediate(() => done(error, NOTHING));
    } else {
      this.#waiting.push({ request, done });
      this.#sendWaiting();
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #sendWaiting(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined) return;
      const bytes = next.request.length + MESSAGE_HEADER_BYTES;
      if (bytes > this.#windowBytes) return;
      this.#windowBytes -= bytes;
      this.#waiting.shift();
      this.#send(next.request, next.done);
    }
  }

  #send(request: Buffer, done: Done): void {
    const streamId = this.#nextStreamId;
    this.#nextStreamId += 2;
    this.#calls.set(streamId, { done, body: NOTHING });
    this.#write(frame(FRAME.headers, FLAG.endHeaders, streamId, this.#nextBlock));
    this.#nextBlock = this.#laterBlock;
    const message = Buffer.allocUnsafe(MESSAGE_HEADER_BYTES + request.length);
    message[0] = 0;
    message.writeUInt32BE(request.length, 1);
    message.set(request, MESSAGE_HEADER_BYTES);
    this.#write(frame(FRAME.data, FLAG.endStream, streamId, message));
  }

  #write(bytes: Buffer): void {
    if (this.#outgoing.length === 0) setImmediate(() => this.#flush());
    this.#outgoing.push(bytes);
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#outgoing);
    this.#outgoing = [];
    if (this.#broken === undefined) this.#socket.write(bytes);
  }

  #receive(chunk: Buffer): void {
    const bytes = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    let at = 0;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const end = at + FRAME_HEADER_BYTES + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const streamId = bytes.readUInt32BE(at + 5) & WINDOW_BYTES_MAX;
      const payload = bytes.subarray(at + FRAME_HEADER_BYTES, end);
      this.#onFrame(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, streamId, payload);
      at = end;
    }
    this.#received = at === bytes.length ? NOTHING : Buffer.from(bytes.subarray(at));
  }

  #onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    switch (type) {
      case FRAME.data:
        return this.#onData(flags, streamId, payload);
      case FRAME.headers:
        return this.#onHeaders(flags, streamId, payload);
      case FRAME.settings:
        if ((flags & FLAG.ack) === 0) this.#write(frame(FRAME.settings, FLAG.ack, 0, NOTHING));
        return;
      case FRAME.ping:
        if ((flags & FLAG.ack) === 0) this.#write(frame(FRAME.ping, FLAG.ack, 0, payload));
        return;
      case FRAME.windowUpdate:
        if (streamId === 0) this.#windowBytes += payload.readUInt32BE(0);
        return this.#sendWaiting();
      case FRAME.goAway:
        return this.#break(new Error("the server has told us to go away"));
      case FRAME.rstStream:
        return this.#finish(streamId, new Error(`reset with code ${payload.readUInt32BE(0)}`));
    }
  }

  #onData(flags: number, streamId: number, payload: Buffer): void {
    if ((flags & FLAG.padded) !== 0) return this.#break(new Error("padded data is not understood"));
    this.#unacknowledgedBytes += payload.length;
    if (this.#unacknowledgedBytes >= WINDOW_STEP_BYTES) {
      this.#write(windowUpdate(this.#unacknowledgedBytes));
      this.#unacknowledgedBytes = 0;
    }
    const call = this.#calls.get(streamId);
    if (call === undefined) return;
    // A copy: the chunk that it is a view of holds many answers.
    call.body = Buffer.concat([call.body, payload]);
  }

  #onHeaders(flags: number, streamId: number, block: Buffer): void {
    if ((flags & ~(FLAG.endStream | FLAG.endHeaders)) !== 0 || (flags & FLAG.endHeaders) === 0) {
      return this.#break(new Error(`headers with flags ${flags} are not understood`));
    }
    if ((flags & FLAG.endStream) === 0) return;
    const status = statusIn(block);
    const error = status === STATUS_OK ? undefined : new Error(refused(status, block));
    this.#finish(streamId, error);
  }

  #finish(streamId: number, error: Error | undefined): void {
    const call = this.#calls.get(streamId);
    if (call === undefined) return;
    this.#calls.delete(streamId);
    call.done(error, call.body.subarray(MESSAGE_HEADER_BYTES));
  }

  /** Fails every call, now and later. */
  #break(error: Error): void {
    if (this.#broken !== undefined) return;
    this.#broken = error;
    this.#socket.destroy();
    const waiting = this.#waiting.splice(0);
    for (const streamId of this.#calls.keys()) this.#finish(streamId, error);
    for (const { done } of waiting) done(error, NOTHING);
  }
}

function refused(status: number | undefined, trailers: Buffer): string {
  if (status === undefined) return `trailers without a status: ${trailers.toString("hex")}`;
  return `answered with gRPC status ${status}; a run with grpc-js says why`;
}

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(streamId, 5);
  bytes.set(payload, FRAME_HEADER_BYTES);
  return bytes;
}

function windowUpdate(bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(FRAME.windowUpdate, 0, 0, payload);
}
