// The raw generator against a real grpc-js server: answers come back whole, and nothing that is not
// a good answer counts as one.
import { once } from "node:events";
import { createServer, type Server as TcpServer } from "node:net";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../cli/processes.ts";
import { openRawPipe } from "../../bench/raw-pipe.ts";
import type { Pipe } from "../../bench/pipe.ts";

const TIMEOUT_MS = 5_000;
const server = new Server();
let address: string;

function asIs(bytes: Buffer): Buffer {
  return bytes;
}

function method(path: string) {
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  } as const;
}

beforeAll(async () => {
  server.addService(
    { echo: method("/t/Echo"), refuse: method("/t/Refuse") },
    {
      echo: (call: { request: Buffer }, reply: (error: null, answer: Buffer) => void) =>
        reply(null, call.request),
      refuse: (_: unknown, reply: (error: object) => void) =>
        reply({ code: status.ABORTED, details: "no" }),
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  address = `127.0.0.1:${port}`;
});

afterAll(() => server.forceShutdown());

function call(pipe: Pipe, request: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pipe.call(request, (error, answer) => {
      if (error === undefined) resolve(answer);
      else reject(error);
    });
  });
}

test("many calls at once are each given their own answer, beyond the first window", async () => {
  const pipe = await openRawPipe(address, "/t/Echo", TIMEOUT_MS);
  // Together several times the 64 KiB that may be sent before the server makes room.
  const requests = Array.from({ length: 300 }, (_, at) => Buffer.alloc(1_000 + at, at));
  const answers = await Promise.all(requests.map((request) => call(pipe, request)));
  answers.forEach((answer, at) => expect(answer.equals(requests[at] ?? answer)).toBe(true));
  expect(await call(pipe, Buffer.alloc(0))).toEqual(Buffer.alloc(0));
  pipe.close();
});

test("a refusal is an error", async () => {
  const pipe = await openRawPipe(address, "/t/Refuse", TIMEOUT_MS);
  await expect(call(pipe, Buffer.from("x"))).rejects.toThrow("gRPC status 10");
  pipe.close();
});

test("a method that is not there is an error", async () => {
  const pipe = await openRawPipe(address, "/t/Nothing", TIMEOUT_MS);
  await expect(call(pipe, Buffer.from("x"))).rejects.toThrow();
  pipe.close();
});

test("a connection that breaks fails the calls on it, and all later ones", async () => {
  const deaf: TcpServer = createServer((socket) => {
    socket.once("data", () => socket.destroy());
    socket.on("error", () => {});
  }).listen(0, "127.0.0.1");
  await once(deaf, "listening");
  const bound = deaf.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  const pipe = await openRawPipe(`127.0.0.1:${port}`, "/t/Echo", TIMEOUT_MS);
  await expect(call(pipe, Buffer.from("x"))).rejects.toThrow();
  await expect(call(pipe, Buffer.from("y"))).rejects.toThrow();
  pipe.close();
  deaf.close();
});

const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;
const [DATA, WINDOW_UPDATE] = [0, 8];
const FIRST_WINDOW_BYTES = 65_535;

/** A server that only counts what it is sent in data frames, and makes room when told to. */
class CountingServer {
  dataBytes = 0;
  makeRoom: (bytes: number) => void = () => {};
  readonly #tcp: TcpServer;

  constructor() {
    this.#tcp = createServer((socket) => {
      let received: Buffer = Buffer.alloc(0);
      socket.once("data", (first) => {
        received = this.#count(first.subarray(PREFACE_BYTES));
        socket.on("data", (chunk) => {
          received = this.#count(Buffer.concat([received, chunk]));
        });
      });
      socket.on("error", () => {});
      this.makeRoom = (bytes) => {
        const frame = Buffer.alloc(FRAME_HEADER_BYTES + 4);
        frame[2] = 4;
        frame[3] = WINDOW_UPDATE;
        frame.writeUInt32BE(bytes, FRAME_HEADER_BYTES);
        socket.write(frame);
      };
    }).listen(0, "127.0.0.1");
  }

  async address(): Promise<string> {
    if (!this.#tcp.listening) await once(this.#tcp, "listening");
    const bound = this.#tcp.address();
    return `127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}`;
  }

  close(): void {
    this.#tcp.close();
  }

  /** Answers the beginning of a frame that is not whole yet. */
  #count(bytes: Buffer): Buffer {
    let at = 0;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const length = bytes.readUIntBE(at, 3);
      if (at + FRAME_HEADER_BYTES + length > bytes.length) break;
      if (bytes[at + 3] === DATA) this.dataBytes += length;
      at += FRAME_HEADER_BYTES + length;
    }
    return bytes.subarray(at);
  }
}

test("no more is sent than the server has made room for (RFC 9113 §5.2)", async () => {
  const counting = new CountingServer();
  const pipe = await openRawPipe(await counting.address(), "/t/Echo", TIMEOUT_MS);
  const message = Buffer.alloc(1_000 - 5);
  for (let at = 0; at < 100; at++) pipe.call(message, () => {});
  await until(() => counting.dataBytes >= 65_000, "the first window is used");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(counting.dataBytes).toBeLessThanOrEqual(FIRST_WINDOW_BYTES);
  counting.makeRoom(100_000);
  await until(() => counting.dataBytes === 100_000, "the rest is sent");
  pipe.close();
  counting.close();
});
