/**
 * The channel port over gRPC: every method of wire/methods.ts as a plain function. A call is bytes
 * to grpc-js, has a deadline, is made once, and always resolves: with the answer, with the refusal
 * that the server sent, or with one that says whether the request may have been applied.
 */

import {
  type Client,
  type ClientReadableStream,
  type ClientUnaryCall,
  Metadata,
} from "@grpc/grpc-js";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Refusal } from "../../wire/api.ts";
import type { ApiServices, CallContext, ServerStream, Unary } from "../../wire/api-services.ts";
import { DEADLINE_MS_DEFAULT, DEADLINE_MS_MAX, REQUEST_BYTES_MAX } from "../../wire/limits.ts";
import { type MethodRow, methodRows } from "../../wire/methods.ts";
import { refusal } from "../../wire/refusal.ts";
import { fromGrpcError } from "../../wire/status-details.ts";
import type { ServerChannel } from "../channel.ts";
import { Connection } from "./connection.ts";
import { WatchIterator } from "./watch-iterator.ts";

export interface GrpcChannelOptions {
  /** How long a connection may take until it is given up and made anew. */
  readonly connectTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS_DEFAULT = 2_000;

/** A channel to one server, host:port. Connects when first used; making it never fails. */
export function grpcChannel(address: string, options: GrpcChannelOptions = {}): ServerChannel {
  return new GrpcChannel(address, options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS_DEFAULT);
}

type Row = MethodRow<unknown, unknown>;
type OpenCall = ClientUnaryCall | ClientReadableStream<Buffer>;

class GrpcChannel implements ServerChannel {
  readonly address: string;
  readonly services: ApiServices;
  readonly #connection: Connection;
  readonly #openCalls = new Set<OpenCall>();

  constructor(address: string, connectTimeoutMs: number) {
    this.address = address;
    this.#connection = new Connection(address, connectTimeoutMs);
    this.services = this.#makeServices();
  }

  close(): void {
    this.#connection.close();
    for (const call of this.#openCalls) call.cancel();
  }

  /** Each row gives the function of its own types, which the table's type ties to ApiServices. */
  #makeServices(): ApiServices {
    const services: Record<string, Record<string, unknown>> = {};
    for (const { service, method, row } of methodRows()) {
      const methods = (services[service] ??= {});
      methods[method] = row.kind === "unary" ? this.#unary(row) : this.#stream(row);
    }
    return services as unknown as ApiServices;
  }

  #unary(row: Row): Unary<unknown, unknown> {
    return (request, context) => {
      const bytes = encodeRequest(row, request);
      if (!bytes.ok) return Promise.resolve(bytes);
      const client = this.#connection.client();
      if (client === undefined) return Promise.resolve(failed(this.#notDialled()));
      const timeoutMs = boundedTimeoutMs(context.timeoutMs);
      if (timeoutMs <= 0 || context.signal?.aborted === true) {
        return Promise.resolve(failed(notInTime(this.address)));
      }
      return this.#call(client, row, bytes.value, { ...context, timeoutMs });
    };
  }

  #call(
    client: Client,
    row: Row,
    bytes: Buffer,
    { timeoutMs, signal }: CallContext,
  ): Promise<Result<unknown, Refusal>> {
    return new Promise((resolve) => {
      const call = client.makeUnaryRequest<Buffer, Buffer>(
        row.path,
        asIs,
        asIs,
        bytes,
        new Metadata(),
        { deadline: Date.now() + timeoutMs },
        (error, answer) => {
          this.#openCalls.delete(call);
          signal?.removeEventListener("abort", cancel);
          if (error !== null) resolve(failed(this.#toRefusal(error, row, call)));
          else if (answer === undefined) resolve(row.decodeAnswer(Buffer.alloc(0)));
          else resolve(row.decodeAnswer(answer));
        },
      );
      const cancel = (): void => call.cancel();
      this.#openCalls.add(call);
      signal?.addEventListener("abort", cancel);
    });
  }

  #stream(row: Row): ServerStream<unknown, unknown> {
    return (request, { signal }) => ({
      [Symbol.asyncIterator]: () =>
        new WatchIterator<unknown>({
          open: () => this.#openStream(row, request),
          decode: row.decodeAnswer,
          toRefusal: (error, call) => this.#toRefusal(error, row, call),
          onClosed: (call) => this.#openCalls.delete(call),
          signal,
        }),
    });
  }

  #openStream(row: Row, request: unknown): Result<ClientReadableStream<Buffer>, Refusal> {
    const bytes = encodeRequest(row, request);
    if (!bytes.ok) return bytes;
    const client = this.#connection.client();
    if (client === undefined) return failed(this.#notDialled());
    const call = client.makeServerStreamRequest<Buffer, Buffer>(
      row.path,
      asIs,
      asIs,
      bytes.value,
      new Metadata(),
    );
    this.#openCalls.add(call);
    return ok(call);
  }

  /** grpc-js knows the security of a call's connection if, and only if, it was put on one. */
  #toRefusal(error: unknown, row: Row, call: OpenCall): Refusal {
    const wasSent = call.getAuthContext() !== null;
    return fromGrpcError(error, { address: this.address, mutates: row.mutates, wasSent });
  }

  #notDialled(): Refusal {
    const text = `${this.address}: closed, or not an address; write it host:port`;
    return refusal("TRANSIENT", text, { metadata: { address: this.address } });
  }
}

function encodeRequest(row: Row, request: unknown): Result<Buffer, Refusal> {
  const bytes = row.encodeRequest(request);
  if (bytes.length <= REQUEST_BYTES_MAX) return ok(bytes);
  const bound = `at most ${REQUEST_BYTES_MAX} are allowed; send less at once`;
  const text = `the request has ${bytes.length} bytes, ${bound}`;
  return failed(refusal("INVALID", text, { metadata: { bytes: String(bytes.length) } }));
}

/** Time left, at most the server's cap; a number that is none counts as the default. */
function boundedTimeoutMs(timeoutMs: number): number {
  return Number.isNaN(timeoutMs) ? DEADLINE_MS_DEFAULT : Math.min(timeoutMs, DEADLINE_MS_MAX);
}

function notInTime(address: string): Refusal {
  const text = `${address}: not asked, the time for the answer was over`;
  return refusal("TRANSIENT", text, { metadata: { address } });
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}
