// A network of fake servers for the client's tests: every call is recorded and answered by a
// handler of its address; what has no handler gives no answer.
import type {
  Epoch,
  GroupId,
  Incarnation,
  Revision,
  ServerId,
  Term,
} from "../../src/base/brands.ts";
import { type Bytes, utf8ToBytes } from "../../src/base/bytes.ts";
import { Prng } from "../../src/base/prng.ts";
import { failed, ok, type Result } from "../../src/base/result.ts";
import type { Span } from "../../src/base/span.ts";
import type { ServerChannel } from "../../src/client/channel.ts";
import { Client } from "../../src/client/client.ts";
import { calledServices } from "../../src/testing/called-services.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import type { CallContext } from "../../src/wire/api-services.ts";
import type * as api from "../../src/wire/api.ts";
import type { Reason } from "../../src/wire/errors.ts";

export interface RecordedCall {
  readonly address: string;
  readonly method: string;
  readonly request: unknown;
  readonly atMs: number;
  readonly timeoutMs: number;
}

export type Answer = Result<unknown, api.Refusal>;
export type Handler = (
  method: string,
  request: never,
  context: CallContext,
) => Answer | Promise<Answer>;
export type WatchHandler = (
  request: api.WatchRequest,
  signal: AbortSignal | undefined,
) => AsyncIterable<Result<api.WatchFrame, api.Refusal>>;

export class FakeNetwork {
  readonly clock = new VirtualClock(1_000);
  readonly calls: RecordedCall[] = [];
  readonly closed: string[] = [];
  readonly handlers = new Map<string, Handler>();
  readonly watches = new Map<string, WatchHandler>();

  /** The same handler at each address. */
  serve(addresses: readonly string[], handler: Handler): void {
    for (const address of addresses) this.handlers.set(address, handler);
  }

  client(endpoints: readonly string[], clientId = "client-1"): Client {
    return new Client({
      endpoints,
      channels: (address) => this.#channel(address),
      clock: this.clock,
      timers: this.clock,
      prng: Prng.fromSeed(7),
      clientId,
    });
  }

  /** The calls of one method, in order. */
  callsOf(method: string): RecordedCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  addressesOf(method: string): string[] {
    return this.callsOf(method).map((call) => call.address);
  }

  /** As the port promises: a call without an answer ends with UNCERTAIN. */
  #unanswered({ timeoutMs, signal }: CallContext): Promise<Answer> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        resolve(refuse("UNCERTAIN"));
      };
      const cancel = this.clock.after(timeoutMs, end);
      signal?.addEventListener("abort", end);
    });
  }

  #channel(address: string): ServerChannel {
    const call = (method: string, request: unknown, context: CallContext): Promise<Answer> => {
      const { timeoutMs } = context;
      this.calls.push({ address, method, request, atMs: this.clock.nowMs(), timeoutMs });
      const handler = this.handlers.get(address);
      if (handler === undefined) return this.#unanswered(context);
      return Promise.resolve(handler(method, request as never, context));
    };
    const watch = (request: api.WatchRequest, { signal }: { signal?: AbortSignal }): unknown => {
      this.calls.push({
        address,
        method: "watch",
        request,
        atMs: this.clock.nowMs(),
        timeoutMs: 0,
      });
      const handler = this.watches.get(address);
      return handler === undefined ? silence() : handler(request, signal);
    };
    const services = calledServices((_service, method) =>
      method === "watch"
        ? watch
        : (request: unknown, context: CallContext) => call(method, request, context),
    );
    const close = (): void => void this.closed.push(address);
    return { address, services, close };
  }
}

/** A stream that never sends anything. */
export async function* silence(): AsyncGenerator<Result<api.WatchFrame, api.Refusal>> {
  await new Promise(() => {});
  yield failed(refusal("TRANSIENT"));
}

export function header(fields: Partial<Record<keyof api.Header, unknown>> = {}): api.Header {
  return {
    clusterId: "cluster-a",
    group: 1 as GroupId,
    generation: 0,
    revision: 10 as Revision,
    serverId: 1 as ServerId,
    leaderServerId: undefined,
    term: 1 as Term,
    ...(fields as Partial<api.Header>),
  };
}

export function refusal(reason: Reason, fields: Partial<api.Refusal> = {}): api.Refusal {
  return {
    reason,
    message: `${reason} for a test; do nothing`,
    metadata: {},
    field: undefined,
    retryAfterMs: undefined,
    descriptors: [],
    ...fields,
  };
}

export function refuse(reason: Reason, fields: Partial<api.Refusal> = {}): Answer {
  return failed(refusal(reason, fields));
}

/** An answer with nothing but a header. */
export function answer(fields: Partial<Record<keyof api.Header, unknown>> = {}): Answer {
  return ok({ header: header(fields) });
}

/** A status that names one server per address and a revision per group. */
export function status(
  addresses: readonly string[],
  revisions: Readonly<Record<number, number>> = { 0: 5, 1: 5 },
): Answer {
  return ok({
    header: header({ group: 0, revision: 1 }),
    servers: addresses.map((grpcAddress, index) => ({ serverId: index + 1, grpcAddress })),
    groups: Object.entries(revisions).map(([group, revision]) => ({
      group: Number(group),
      revision,
    })),
  });
}

export function span(startKey: string, endKey: string): Span {
  return {
    startKey: utf8ToBytes(startKey),
    endKey: endKey === "" ? undefined : utf8ToBytes(endKey),
  };
}

export interface RecordFields {
  readonly id?: string;
  readonly keyspace?: string;
  readonly start?: string;
  readonly end?: string;
  readonly epoch?: number;
  readonly node?: string | undefined;
  readonly incarnation?: number;
  readonly revision?: number;
  readonly successor?: string;
  /** The revision at which the owner was asked to hand over to the successor. */
  readonly handOver?: number;
  readonly group?: number;
}

export function record(fields: RecordFields = {}): api.RangeRecord {
  const { id = "r1", keyspace = "k", start = "", end = "", epoch = 0, incarnation = 1 } = fields;
  const { node, revision = epoch, successor, group = 1 } = fields;
  const owner =
    node === undefined ? undefined : { nodeId: node, incarnation: incarnation as Incarnation };
  return {
    descriptor: {
      rangeId: id,
      keyspace,
      span: span(start, end),
      epoch: epoch as Epoch,
      owner,
      replicas: [],
      descriptorRevision: revision as Revision,
      group: group as GroupId,
    },
    successor:
      successor === undefined ? undefined : { nodeId: successor, incarnation: 1 as Incarnation },
    intendedNodeId: undefined,
    acceptedEpoch: 0 as Epoch,
    handOverRevision: (fields.handOver ?? 0) as Revision,
  };
}

export function token(text: string): Bytes {
  return utf8ToBytes(text);
}

export function snapshotFrame(
  revision: number,
  ranges: readonly api.RangeRecord[],
  fields: Partial<Extract<api.WatchFrame, { kind: "snapshot" }>> = {},
): api.WatchFrame {
  return {
    kind: "snapshot",
    header: header({ revision }),
    resumeToken: token(`t${revision}`),
    ranges,
    first: true,
    last: true,
    afterCompaction: false,
    ...fields,
  };
}

/** Each revision with its changes; the frame's token is that of the last. */
export function changesFrame(
  revisions: readonly (readonly [number, readonly api.RangeChange[]])[],
  fields: Partial<Extract<api.WatchFrame, { kind: "changes" }>> = {},
): api.WatchFrame {
  const last = revisions.at(-1)?.[0] ?? 0;
  return {
    kind: "changes",
    header: header({ revision: last }),
    resumeToken: token(`t${last}`),
    revisions: revisions.map(([revision, changes]) => ({
      revision: revision as Revision,
      changes,
    })),
    continues: false,
    ...fields,
  };
}

export function progressFrame(revision: number): api.WatchFrame {
  return { kind: "progress", header: header({ revision }), resumeToken: token(`t${revision}`) };
}

export function change(
  cause: api.Cause,
  before: api.RangeRecord | undefined,
  after: api.RangeRecord | undefined,
): api.RangeChange {
  return { before, after, cause };
}

/** The promise's error, for assertions on its fields. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}
