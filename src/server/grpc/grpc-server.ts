/**
 * The public gRPC port of a server: every method of wire/methods.ts, answered by services that know
 * nothing of gRPC, and gRPC's own health and reflection. Sizes, deadlines, slots and shutdown are
 * decided here.
 */

import {
  type MethodDefinition,
  Server,
  ServerCredentials,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { defined } from "../../base/assert.ts";
import { type Listener, BindError, listen } from "../../net/listener.ts";
import type { ApiServices, ServerStream, Unary } from "../../wire/api-services.ts";
import { ANSWER_BYTES_MAX, REQUEST_BYTES_MAX } from "../../wire/limits.ts";
import { methodRows, METHODS } from "../../wire/methods.ts";
import { refusal } from "../../wire/refusal.ts";
import type { HealthApi } from "../../wire/standard/health.ts";
import { Admission, DEFAULT_LIMITS, type GrpcLimits } from "./admission.ts";
import type { BugReports } from "./bugs.ts";
import { bytesMethod } from "./bytes-method.ts";
import { unaryHandler } from "./unary-handler.ts";
import { addStandardServices } from "./standard-services.ts";
import { type OpenStream, WATCH_RULES, watchHandler } from "./watch-handler.ts";

export interface GrpcServerOptions extends BugReports {
  readonly services: ApiServices;
  /** Its watches must have ended, or be about to end, when the server is closed. */
  readonly health: HealthApi;
  /** host:port; port 0 takes any free one. */
  readonly listen: string;
  readonly limits?: Partial<GrpcLimits>;
}

export interface GrpcServer {
  /** host:port as bound. */
  readonly address: string;
  /** Unary calls and watches under way. */
  readonly load: () => { readonly calls: number; readonly watches: number };
  /**
   * Takes no new calls, ends watches, lets unary calls finish for up to graceMs and then cuts them.
   * A second call answers the same promise. Never rejects.
   */
  readonly close: (graceMs: number) => Promise<void>;
}

const SERVER_OPTIONS = {
  "grpc.max_receive_message_length": REQUEST_BYTES_MAX,
  "grpc.max_send_message_length": ANSWER_BYTES_MAX,
  // A client that is gone without a word is noticed, and its watches end.
  "grpc.keepalive_time_ms": 20_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.enable_channelz": 0,
} as const;

/** The calls by which owners keep what they hold. */
const KEEPS_RANGES: ReadonlySet<string> = new Set([
  METHODS.ownership.renew.path,
  METHODS.ownership.accept.path,
  METHODS.ownership.release.path,
  METHODS.ownership.openSession.path,
]);

/** Rejects with BindError when the address cannot be had; nothing is left open then. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const admission = new Admission({ ...DEFAULT_LIMITS, ...options.limits });
  const streams = new Set<OpenStream>();
  const server = new Server(SERVER_OPTIONS);
  addMethods(server, options, admission, streams);
  addStandardServices(server, { health: options.health, admission, reports: options, streams });
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = await listenForClients(options.listen, (socket) =>
    injector.injectConnection(socket),
  );
  let closing: Promise<void> | undefined;
  return {
    address: listener.address,
    load: () => ({ calls: admission.calls, watches: admission.watches }),
    close: (graceMs) => (closing ??= closeServer(server, listener, streams, graceMs)),
  };
}

type Listen = typeof listen;

async function listenForClients(...[address, onConnection]: Parameters<Listen>): Promise<Listener> {
  try {
    return await listen(address, onConnection);
  } catch (error) {
    if (!(error instanceof BindError)) throw error;
    const remedy =
      error.code === "addressInUse"
        ? "another process uses the port; stop it, or give another port in listen.grpc"
        : "give an address of this machine, written host:port, and a port this user may open";
    throw new BindError(
      error.code,
      `cannot listen for clients on ${address}: ${remedy}`,
      error.cause,
    );
  }
}

/** The services as the table's rows see them: each row is of the types of its method. */
type LooseServices = Readonly<
  Record<string, Readonly<Record<string, Unary<unknown, unknown> & ServerStream<unknown, unknown>>>>
>;

function addMethods(
  server: Server,
  options: GrpcServerOptions,
  admission: Admission,
  streams: Set<OpenStream>,
): void {
  const services = options.services as unknown as LooseServices;
  const definitions: Record<string, MethodDefinition<Buffer, Buffer>> = {};
  const handlers: UntypedServiceImplementation = {};
  for (const { service: serviceName, method, row } of methodRows()) {
    const owner = services[serviceName];
    const service = defined(owner?.[method], `the services have ${serviceName}.${method}`).bind(
      owner,
    );
    const admissionClass = KEEPS_RANGES.has(row.path) ? "keepsRanges" : "other";
    definitions[row.path] = bytesMethod(row.path, { responseStream: row.kind === "serverStream" });
    handlers[row.path] =
      row.kind === "unary"
        ? unaryHandler({ row, service, admission, admissionClass, reports: options })
        : watchHandler({
            rules: WATCH_RULES,
            row,
            service,
            admission,
            reports: options,
            streams,
          });
  }
  server.addService(definitions, handlers);
}

async function closeServer(
  server: Server,
  listener: Listener,
  streams: ReadonlySet<OpenStream>,
  graceMs: number,
): Promise<void> {
  const stopped = listener.stop();
  const goodbye = refusal("TRANSIENT", "this server is shutting down; resume at another one");
  for (const stream of streams) stream.end(goodbye);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  server.forceShutdown();
  listener.cutAll();
  await stopped;
}
