// The HTTP surface over real sockets on free ports.
import { connect } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startAdminServer, type AdminServer } from "../../src/admin/server.ts";
import { ListenError } from "../../src/admin/listen-error.ts";
import { FakePort, GOOD_GROUP } from "./fake-port.ts";

let port: FakePort;
let errors: unknown[];
let server: AdminServer;

beforeEach(async () => {
  port = new FakePort();
  errors = [];
  server = await startAdminServer({
    listen: { host: "127.0.0.1", port: 0 },
    port,
    onError: (error) => errors.push(error),
  });
});

afterEach(() => server.close());

async function get(path: string, init?: RequestInit): Promise<{ status: number; text: string }> {
  const answer = await fetch(`http://${server.address}${path}`, init);
  return { status: answer.status, text: await answer.text() };
}

test("a server in good order says ok to both questions", async () => {
  expect(await get("/livez")).toEqual({ status: 200, text: "ok\n" });
  expect(await get("/readyz")).toEqual({ status: 200, text: "ok\n" });
});

test("verbose lists each check on a line", async () => {
  expect((await get("/livez?verbose")).text).toBe("event-loop ok\nno-fatal-error ok\nok\n");
});

test("a server without a leader is alive, and not ready with the reason", async () => {
  const groups = [{ ...GOOD_GROUP, leaderServerId: undefined, readIndexAgeMs: 9_000 }];
  port.healthFacts = { ...port.healthFacts, groups };
  expect((await get("/livez")).status).toBe(200);
  const { status, text } = await get("/readyz");
  expect(status).toBe(503);
  expect(text).toContain("leader failed: group 0 has no leader\n");
  expect(text).toContain("storage ok\n");
  expect(text.endsWith("\nfailed\n")).toBe(true);
});

test("an excluded check does not count", async () => {
  port.healthFacts = { ...port.healthFacts, isDraining: true };
  expect((await get("/readyz")).status).toBe(503);
  const { status, text } = await get("/readyz?exclude=not-draining,storage&verbose");
  expect(status).toBe(200);
  expect(text).toContain("not-draining excluded\n");
});

test.each([
  ["/readyz?exclude=lead", 400, "INVALID", /^query\.exclude: no check "lead"; there are .*leader/],
  ["/readyz?verbos", 400, "INVALID", /^query\.verbos: unknown/],
  ["/nothing", 404, "NOT_FOUND", /^no GET \/nothing; there are \/livez/],
  ["/%zz", 400, "INVALID", /./],
])("%s is a JSON error of the table", async (path, status, reason, message) => {
  const answer = await get(path);
  expect(answer.status).toBe(status);
  const { error } = JSON.parse(answer.text) as { error: { reason: string; message: string } };
  expect(error.reason).toBe(reason);
  expect(error.message).toMatch(message);
});

test("other methods and large bodies are refused as JSON, too", async () => {
  expect((await get("/livez", { method: "POST" })).status).toBe(404);
  const large = await get("/v1/status", { method: "PUT", body: "x".repeat(5_000) });
  expect([400, 404, 413]).toContain(large.status);
  expect(() => JSON.parse(large.text) as unknown).not.toThrow();
});

test("the status has 64-bit numbers as strings", async () => {
  const { text } = await get("/v1/status");
  expect(JSON.parse(text)).toMatchObject({
    clusterName: "demo",
    serverId: 1,
    uptimeMs: "1235",
    servers: [{ serverId: 1, reachable: true }],
    groups: [
      {
        group: 0,
        term: "3",
        leaderServerId: 0,
        revision: "17592186044456",
        replicas: [{ serverId: 1, replicaId: "1", matchIndex: "0" }],
      },
    ],
    abstention: null,
  });
  const abstention = { reason: "damaged", details: "why" };
  const status = port.status();
  port.status = () => ({ ...status, abstention });
  expect(JSON.parse((await get("/v1/status")).text)).toMatchObject({ abstention });
});

test("metrics hold the process, its event loop and the server", async () => {
  const { status, text } = await get("/metrics");
  expect(status).toBe(200);
  expect(text).toContain("process_cpu_seconds_total");
  expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
  expect(text).toContain('cadastre_term{group="0"} 3');
  const bad = text.split("\n").filter((line) => !/^(#.*|[a-z_:0-9]+(\{.*\})? \S+|)$/i.test(line));
  expect(bad).toEqual([]);
});

test("what fails inside is told to the log and not to the asker", async () => {
  const failure = new Error("secret detail");
  port.status = () => {
    throw failure;
  };
  const { status, text } = await get("/v1/status");
  expect(status).toBe(500);
  expect(text).not.toContain("secret");
  expect(JSON.parse(text)).toMatchObject({ error: { reason: "INTERNAL" } });
  expect(errors).toEqual([failure]);
});

test("a busy port is one line with cause and remedy", async () => {
  const [host = "", busyPort] = server.address.split(":");
  const second = startAdminServer({
    listen: { host, port: Number(busyPort) },
    port,
    onError: () => undefined,
  });
  const error: unknown = await second.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ListenError);
  expect(error).toMatchObject({
    message: `cannot listen on ${server.address}: another process uses the port`,
    remedy: "stop that process, or give another port in listen.http",
  });
});

test("closing does not wait for a connection that is in the middle of a request", async () => {
  const [host = "", portText] = server.address.split(":");
  const socket = connect({ host, port: Number(portText) });
  const ended = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => undefined);
  socket.write("GET /livez HTTP/1.1\r\nhost: x\r\n");
  await get("/livez");
  await server.close();
  await ended;
  await expect(get("/livez")).rejects.toThrow();
});
