// The launcher's control endpoint, for `cadastre dev restart` from another terminal: HTTP on the
// loopback address, a random port and a random token, both known from cluster.json alone.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { CliError, failureJson, failureOf } from "../failure.ts";
import { EXIT } from "../../wire/errors.ts";
import { httpCall } from "../http-get.ts";
import { fieldOf, numberOf, parseJson, textOf } from "../json-fields.ts";
import type { ClusterFile } from "./cluster-file.ts";

const HOST = "127.0.0.1";
const RESTART_TIMEOUT_MS = 70_000;

export interface ControlServer {
  readonly address: string;
  readonly token: string;
  close(): void;
}

/** `restart` resolves with the new process id. */
export async function startControl(
  restart: (id: number) => Promise<number>,
): Promise<ControlServer> {
  const token = randomBytes(16).toString("hex");
  const server = createServer((request, response) => {
    void answer(request, response, token, restart);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: HOST, port: 0 }, resolve);
  });
  return {
    address: `${HOST}:${portOf(server)}`,
    token,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  restart: (id: number) => Promise<number>,
): Promise<void> {
  const send = (status: number, body: string): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  };
  const [, idText] = /^\/restart\/(\d{1,9})$/.exec(request.url ?? "") ?? [];
  if (!isSame(request.headers.authorization ?? "", `Bearer ${token}`)) return send(403, "{}");
  if (request.method !== "POST" || idText === undefined) return send(404, "{}");
  try {
    const pid = await restart(Number(idText));
    send(200, JSON.stringify({ pid }));
  } catch (error) {
    send(409, failureJson(failureOf(error)));
  }
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Asks the launcher of a running cluster; answers the new process id. */
export async function requestRestart(file: ClusterFile, id: number): Promise<number> {
  if (file.launcher === undefined) {
    throw new CliError({ message: "this cluster was not started by `cadastre dev`" });
  }
  const { control, token, pid: launcherPid } = file.launcher;
  const reply = await httpCall({
    address: control,
    path: `/restart/${id}`,
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    timeoutMs: RESTART_TIMEOUT_MS,
  }).catch((error: unknown) => {
    throw new CliError({
      message: `the launcher (pid ${launcherPid}) does not answer`,
      remedy: "is it paused, or has it just ended? Start it again with `cadastre dev`",
      cause: error,
    });
  });
  const body = parseJson(reply.body);
  const pid = numberOf(body, "pid");
  if (pid !== undefined) return pid;
  const error = fieldOf(body, "error");
  throw new CliError({
    message: textOf(error, "message") ?? `the launcher refused (${reply.status})`,
    exit: numberOf(error, "exit") ?? EXIT.failed,
  });
}
