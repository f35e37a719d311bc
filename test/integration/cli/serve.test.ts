// `cadastre serve` as a process around a stand-in server: how it stops, and what it says when it
// cannot go on.
import { afterEach, expect, test } from "vitest";
import { cleanUp, scriptPath, start, timed, type Running } from "./processes.ts";

const SERVE = scriptPath("stub-serve.mjs");
const BINARY = scriptPath("../../../src/cli/cadastre.cjs");

afterEach(cleanUp);

async function serving(mode: string, ipc = false): Promise<Running> {
  const server = start(SERVE, [mode], { ipc });
  await server.says('"event":"serving"');
  return server;
}

test.each([
  ["normal", "SIGTERM"],
  ["normal", "SIGINT"],
  ["normal", "SIGHUP"],
  ["busy pool", "SIGTERM"],
] as const)("%s: %s stops the server in order", async (mode, signal) => {
  const server = await serving(mode);
  server.child.kill(signal);
  expect(await server.ended).toEqual({ code: 0, signal: null });
  const events = server
    .output()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(events.slice(-3)).toMatchObject([
    { event: "stopping", why: signal, server: "s1" },
    { event: "draining" },
    { event: "stopped" },
  ]);
  expect(server.stderr()).toBe("");
});

test("two signals at once are one request, a later one ends the process at once", async () => {
  const server = await serving("slow stop");
  server.child.kill("SIGINT");
  server.child.kill("SIGTERM");
  const { value, ms } = await timed(server.ended);
  expect(value).toEqual({ code: 0, signal: null });
  expect(ms).toBeGreaterThan(1_800);

  const impatient = await serving("stuck");
  impatient.child.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  impatient.child.kill("SIGINT");
  const again = await timed(impatient.ended);
  expect(again.value).toEqual({ code: 130, signal: null });
  expect(again.ms).toBeLessThan(1_000);
});

test("a stop that hangs ends within three seconds, and says so", async () => {
  const server = await serving("stuck");
  server.child.kill("SIGTERM");
  const { value, ms } = await timed(server.ended);
  expect(value.code).toBe(1);
  expect(ms).toBeLessThan(4_000);
  expect(server.stderr()).toBe("cadastre: the server did not stop within 2800 ms.\n");
});

test("what is left open after a stop does not hold the process", async () => {
  const server = await serving("lingers");
  server.child.kill("SIGTERM");
  const { value, ms } = await timed(server.ended);
  expect([value.code, ms < 1_500]).toEqual([0, true]);
});

test("a signal while it starts ends it at once", async () => {
  const server = start(SERVE, ["slow start"]);
  await server.says("startingSlowly");
  server.child.kill("SIGTERM");
  expect(await server.ended).toEqual({ code: 143, signal: null });
});

test("it ends when the parent that holds its channel goes away", async () => {
  const server = await serving("normal", true);
  server.child.disconnect();
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(server.output()).toContain('"why":"the parent process ended"');
});

test("a start that fails is one line with cause and remedy", async () => {
  const server = start(SERVE, ["busy"]);
  expect((await server.ended).code).toBe(1);
  expect(server.stderr()).toBe(
    "cadastre: cannot listen on h:1: another process uses the port." +
      " Give another port in listen.grpc.\n",
  );
  expect(server.output()).toContain('"event":"startFailed"');
});

test("a failure of the world while it runs ends it with 1, after an orderly stop", async () => {
  const server = start(SERVE, ["fails"]);
  expect((await server.ended).code).toBe(1);
  expect(server.stderr()).toBe("cadastre: a write to the log store was rejected.\n");
  expect(server.output()).toContain('"event":"draining"');
});

test.each([
  ["bug", "InvariantError: entries are contiguous"],
  ["bug at start", "InvariantError: a group has a replica"],
  ["rejection", "TypeError: x is not a function"],
])("a %s is logged as fatal and exits with 70", async (mode, what) => {
  const server = start(SERVE, [mode]);
  expect((await server.ended).code).toBe(70);
  expect(server.stderr()).toContain(what);
  expect(server.stderr().trimEnd().split("\n")).toHaveLength(1);
  const lines = server.output().split("\n");
  const fatal = lines.find((line) => line.includes('"level":"fatal"')) ?? "{}";
  expect((JSON.parse(fatal) as { error: { stack: string } }).error.stack).toContain(what);
});

test("the pretty form is short lines with the server's name", async () => {
  const server = start(SERVE, ["normal", "pretty"]);
  await server.says("s1 serving");
  expect(server.output()).toMatch(/^\d\d:\d\d:\d\d\.\d{3} s1 serving pid=\d+\n$/);
});

test("a configuration that cannot be used is one line, exit 2", async () => {
  const none = start(BINARY, ["serve", "--config", "no such file.yaml"]);
  expect((await none.ended).code).toBe(2);
  expect(none.stderr()).toBe(
    "cadastre: cannot read the configuration file no such file.yaml (ENOENT)." +
      " Check the path in --config.\n",
  );
  const bad = start(BINARY, ["serve", "--id", "one", "--data-dir", "d", "-o", "json"]);
  expect((await bad.ended).code).toBe(2);
  expect(JSON.parse(bad.stderr())).toMatchObject({
    error: {
      exit: 2,
      message: 'configuration: server.id (--id): must be a whole number, not "one"',
    },
  });
});
