// A real gRPC server on 127.0.0.1 with services that a test makes up, and channels to it.
import * as fc from "fast-check";
import { afterEach, expect } from "vitest";
import type { InvariantError } from "../../../src/base/assert.ts";
import type { GroupId, Revision, ServerId, Term } from "../../../src/base/brands.ts";
import { failed, type Result } from "../../../src/base/result.ts";
import { type GrpcChannelOptions, grpcChannel } from "../../../src/client/grpc/grpc-channel.ts";
import type { ServerChannel } from "../../../src/client/channel.ts";
import type { Logger } from "../../../src/replica/ports.ts";
import type { GrpcLimits } from "../../../src/server/grpc/admission.ts";
import { type GrpcServer, startGrpcServer } from "../../../src/server/grpc/grpc-server.ts";
import type * as api from "../../../src/wire/api.ts";
import type { ApiServices } from "../../../src/wire/api-services.ts";
import { HealthService } from "../../../src/server/services/health.ts";
import { Drain } from "../../../src/server/services/news.ts";
import { methodRows, publicServices } from "../../../src/wire/methods.ts";
import { refusal } from "../../../src/wire/refusal.ts";

export interface Harness {
  readonly server: GrpcServer;
  /** Says to the health service that the server is about to stop. */
  readonly drain: () => void;
  /** Changes what the health service finds at its next look, and has it look. */
  readonly setReady: (isReady: boolean) => void;
  /** Event names of what was logged as an error. */
  readonly logged: string[];
  readonly fatal: InvariantError[];
  readonly channel: (options?: GrpcChannelOptions) => ServerChannel;
}

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** Runs after the test, last registered first. */
export function onCleanup(cleanup: () => Promise<void> | void): void {
  cleanups.push(cleanup);
}

type Overrides = { readonly [S in keyof ApiServices]?: Partial<ApiServices[S]> };

/** Services that refuse everything but what is given. */
export function servicesOf(overrides: Overrides): ApiServices {
  const services: Record<string, Record<string, unknown>> = {};
  for (const { service, method } of methodRows()) {
    const given = (overrides[service] as Record<string, unknown> | undefined)?.[method];
    const methods = (services[service] ??= {});
    methods[method] =
      given ?? (() => Promise.resolve(failed(refusal("NOT_FOUND", `${method} is not faked`))));
  }
  return services as unknown as ApiServices;
}

export async function startHarness(
  overrides: Overrides,
  options: { readonly limits?: Partial<GrpcLimits>; readonly listen?: string } = {},
): Promise<Harness> {
  const logged: string[] = [];
  const fatal: InvariantError[] = [];
  const ignore = (): void => {};
  const logger: Logger = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (event) => logged.push(event),
  };
  const drain = new AbortController();
  const readiness = { isReady: true };
  const health = new HealthService({
    services: publicServices(),
    isReady: () => readiness.isReady && !drain.signal.aborted,
    drain: new Drain(drain.signal),
  });
  const server = await startGrpcServer({
    services: servicesOf(overrides),
    health,
    listen: options.listen ?? "127.0.0.1:0",
    logger,
    limits: options.limits ?? {},
    onFatal: (error) => fatal.push(error),
  });
  onCleanup(() => server.close(0));
  return {
    server,
    drain: () => drain.abort(),
    setReady: (isReady) => {
      readiness.isReady = isReady;
      health.refresh();
    },
    logged,
    fatal,
    channel: (channelOptions) => openChannel(server.address, channelOptions),
  };
}

export function openChannel(address: string, options?: GrpcChannelOptions): ServerChannel {
  const channel = grpcChannel(address, options);
  onCleanup(() => channel.close());
  return channel;
}

/** The same value on every run. */
export function sample<T>(arbitrary: fc.Arbitrary<T>, seed = 42): T {
  const [value] = fc.sample(arbitrary, { numRuns: 1, seed });
  if (value === undefined) throw new Error("fast-check gave no sample");
  return value;
}

/** Polls until the condition holds; fails after two seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const endMs = Date.now() + 2_000;
  while (!condition()) {
    expect(Date.now(), "the condition never held").toBeLessThan(endMs);
    await pause(5);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export const HEADER: api.Header = {
  clusterId: "c1",
  group: 1 as GroupId,
  generation: 1,
  revision: 17 as Revision,
  serverId: 1 as ServerId,
  leaderServerId: 2 as ServerId,
  term: 3 as Term,
};

export const LOOKUP: api.LookupRequest = {
  keyspace: "orders",
  key: new Uint8Array([1]),
  read: { kind: "linearizable" },
};

export const COMMIT_IMPORT: api.CommitImportRequest = {
  keyspace: "orders",
  importId: "i1",
  rowCount: 5,
};

export const WATCH: api.WatchRequest = {
  keyspace: undefined,
  span: { startKey: new Uint8Array(0), endKey: undefined },
  nodeId: undefined,
  resumeToken: undefined,
  failIfCompacted: false,
};

/** A progress frame whose token says which frame it is, padded to about this size. */
export function frameOf(number: number, bytes = 4): api.WatchFrame {
  const resumeToken = new Uint8Array(Math.max(bytes, 4));
  new DataView(resumeToken.buffer).setUint32(0, number);
  return { header: HEADER, kind: "progress", resumeToken };
}

export function numberOf(frame: Result<api.WatchFrame, api.Refusal>): number {
  if (!frame.ok) throw new Error(frame.error.message);
  const token = frame.value.resumeToken ?? new Uint8Array(4);
  return new DataView(token.buffer, token.byteOffset).getUint32(0);
}

/** The number of the next frame. */
export async function nextNumber(
  iterator: AsyncIterator<Result<api.WatchFrame, api.Refusal>, unknown>,
): Promise<number> {
  const frames = await iterator.next();
  if (frames.done === true) throw new Error("the stream is over");
  return numberOf(frames.value);
}
