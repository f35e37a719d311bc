// The HTTP surface of a server: liveness, readiness, metrics and status, all about this process
// alone and answered from memory. Errors are JSON, with the reasons and statuses of wire/errors.
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { collectDefaultMetrics, Registry } from "prom-client";
import { InvariantError } from "../base/assert.ts";
import { reasonRow, type Reason } from "../wire/errors.ts";
import { livenessChecks, readinessChecks, type HealthCheck } from "./checks.ts";
import { listenErrorOf } from "./listen-error.ts";
import { metricsText } from "./metrics.ts";
import type { AdminPort } from "./port.ts";
import { statusToJson } from "./status-json.ts";

export interface AdminServerOptions {
  /** Port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly port: AdminPort;
  /** Told of what failed inside a request, for the log; the answer says nothing of it. */
  readonly onError: (error: unknown) => void;
}

export interface AdminServer {
  /** "host:port" as it listens in fact. */
  readonly address: string;
  /** Ends open connections, too. */
  close(): Promise<void>;
}

/** Nothing here takes a body; requests that carry one are refused early. */
const BODY_BYTES_MAX = 1_024;
const REQUEST_TIMEOUT_MS = 10_000;

/** Resolves when it listens; rejects with a ListenError. */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    forceCloseConnections: true,
    requestTimeout: REQUEST_TIMEOUT_MS,
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply) => {
      void sendError(reply, "INVALID", error.message);
    },
  });
  addHealthRoutes(app, options.port);
  addMetricsRoute(app, options.port);
  app.get("/v1/status", () => statusToJson(options.port.status()));
  addErrorHandlers(app, options.onError);
  const { host, port } = options.listen;
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw listenErrorOf(hostPort(host, port), "listen.http", error);
  }
  const [bound] = app.addresses();
  const boundPort = typeof bound === "object" ? bound.port : port;
  return { address: hostPort(host, boundPort), close: () => app.close() };
}

function hostPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

// ---- Health.

function addHealthRoutes(app: FastifyInstance, port: AdminPort): void {
  app.get("/livez", (request, reply) =>
    answerChecks(request, reply, livenessChecks(port.health())),
  );
  app.get("/readyz", (request, reply) =>
    answerChecks(request, reply, readinessChecks(port.health())),
  );
}

/** A failed answer always lists the checks: it is read when something is wrong. */
function answerChecks(
  request: FastifyRequest,
  reply: FastifyReply,
  checks: readonly HealthCheck[],
): FastifyReply {
  const query = new URL(request.url, "http://server").searchParams;
  const names = checks.map(({ name }) => name);
  for (const key of query.keys()) {
    if (key === "verbose" || key === "exclude") continue;
    return sendError(reply, "INVALID", `query.${key}: unknown; known are verbose and exclude`);
  }
  const excluded = query.getAll("exclude").flatMap((list) => list.split(","));
  const unknown = excluded.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const known = names.join(", ");
    return sendError(reply, "INVALID", `query.exclude: no check "${unknown}"; there are ${known}`);
  }
  const isOk = checks.every(
    ({ name, problem }) => problem === undefined || excluded.includes(name),
  );
  const lines = isOk && !query.has("verbose") ? [] : checks.map((one) => checkLine(one, excluded));
  return reply
    .code(isOk ? 200 : 503)
    .header("cache-control", "no-store")
    .type("text/plain; charset=utf-8")
    .send([...lines, isOk ? "ok" : "failed"].map((line) => `${line}\n`).join(""));
}

function checkLine({ name, problem }: HealthCheck, excluded: readonly string[]): string {
  if (excluded.includes(name)) return `${name} excluded`;
  return problem === undefined ? `${name} ok` : `${name} failed: ${problem}`;
}

// ---- Metrics.

function addMetricsRoute(app: FastifyInstance, port: AdminPort): void {
  // A set of its own: several servers may live in one process.
  const series = new Registry();
  collectDefaultMetrics({ register: series });
  app.get("/metrics", async (_request, reply) => {
    const text = `${await series.metrics()}\n${metricsText(port.metrics())}`;
    return reply.type(series.contentType).send(text);
  });
}

// ---- Errors.

const PATHS = "/livez, /readyz, /metrics and /v1/status";

function addErrorHandlers(app: FastifyInstance, onError: (error: unknown) => void): void {
  app.setNotFoundHandler((request, reply) =>
    sendError(
      reply,
      "NOT_FOUND",
      `no ${request.method} ${pathOf(request.url)}; there are ${PATHS}`,
    ),
  );
  app.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error);
    if (status !== undefined && status < 500) {
      return sendError(reply, "INVALID", error instanceof Error ? error.message : "bad request");
    }
    // A bug ends the process, as it would anywhere else; fastify must not swallow it.
    if (error instanceof InvariantError) queueMicrotask(() => raise(error));
    else onError(error);
    return sendError(reply, "INTERNAL", "the server could not answer");
  });
}

function raise(error: Error): never {
  throw error;
}

function sendError(reply: FastifyReply, reason: Reason, message: string): FastifyReply {
  return reply.code(reasonRow(reason).http).send({ error: { reason, message } });
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("statusCode" in error)) return undefined;
  return typeof error.statusCode === "number" ? error.statusCode : undefined;
}

function pathOf(url: string): string {
  return url.split("?")[0] ?? url;
}
