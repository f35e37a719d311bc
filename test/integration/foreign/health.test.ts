import { afterAll, beforeAll, expect, test } from "vitest";
import { publicServices } from "../../../src/wire/methods.ts";
import { RealCluster, until } from "../support/real-cluster.ts";
import { findPython, type Script, startScript } from "./python.ts";

const SERVICES = ["", ...publicServices()];
const scripts: Script[] = [];
let python = "";
let cluster: RealCluster | undefined;

beforeAll(async () => {
  python = await findPython();
});

afterAll(async () => {
  for (const { child } of scripts) child.kill();
  await cluster?.stop();
});

function start(...args: string[]): Script {
  const script = startScript(python, args);
  scripts.push(script);
  return script;
}

function all(status: string): Record<string, string> {
  return Object.fromEntries(SERVICES.map((service) => [service, status]));
}

interface Line {
  readonly status?: string;
  readonly end?: string;
}

function lastStatus({ lines }: Script): string | undefined {
  return (lines.at(-1) as Line | undefined)?.status;
}

test("a foreign client's checks and watches say what /readyz says, through the loss of the quorum, its return, and the stop", async () => {
  const servers = (cluster = await RealCluster.start(3));
  const address = servers.endpoints[0] ?? "";
  const unknown = { "cadastre.v1.Nothing": "NOT_FOUND", "cadastre.peer.v1.Peer": "NOT_FOUND" };
  const names = [...SERVICES, ...Object.keys(unknown)];
  const health = async (): Promise<unknown> => (await start("health", address, ...names).done)[0];
  const isReady = async (): Promise<boolean> => (await servers.get(1, "/readyz"))?.ok === true;
  const whole = start("watch", address, "");
  const one = start("watch", address, "cadastre.v1.Directory");
  const none = start("watch", address, "cadastre.v1.Nothing");
  const both = async (status: string): Promise<void> =>
    until(() => lastStatus(whole) === status && lastStatus(one) === status);
  await both("SERVING");
  await until(() => lastStatus(none) === "SERVICE_UNKNOWN");
  expect(await health()).toEqual({
    checks: { ...all("SERVING"), ...unknown },
    list: all("SERVING"),
  });

  await servers.kill(2);
  await servers.kill(3);
  await until(async () => !(await isReady()));
  await both("NOT_SERVING");
  expect(await health()).toEqual({
    checks: { ...all("NOT_SERVING"), ...unknown },
    list: all("NOT_SERVING"),
  });

  await servers.startServer(2);
  await servers.waitReady([1]);
  await both("SERVING");

  servers.signal(1, "SIGTERM");
  const lines = (await whole.done) as Line[];
  expect(lines.slice(-2)).toEqual([{ status: "NOT_SERVING" }, { end: "OK" }]);
  // On a slow machine readiness may come and go more often, but each change is told once.
  const statuses = lines.slice(0, -1).map(({ status }) => status);
  const word = (_: unknown, at: number): string => (at % 2 === 0 ? "SERVING" : "NOT_SERVING");
  expect(statuses).toEqual(statuses.map(word));
  expect(statuses.length).toBeGreaterThanOrEqual(4);
  expect(await one.done).toEqual(lines);
  expect(await none.done).toEqual([{ status: "SERVICE_UNKNOWN" }, { end: "OK" }]);
});
