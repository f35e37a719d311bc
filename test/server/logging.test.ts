// The logger behind the port: what a line holds in both forms.
import { expect, test } from "vitest";
import { createServerLog, type LogSink, type ServerLogOptions } from "../../src/server/logging.ts";

function recorder(): LogSink & { readonly lines: string[]; flushes: number } {
  const lines: string[] = [];
  return {
    lines,
    flushes: 0,
    write(line) {
      lines.push(line);
    },
    flushSync() {
      this.flushes++;
    },
    drained: () => Promise.resolve(),
  };
}

function logTo(
  sink: LogSink,
  options: Partial<ServerLogOptions> = {},
): ReturnType<typeof createServerLog> {
  return createServerLog({ serverName: "s2", level: "info", format: "json", sink, ...options });
}

test("a line is JSON with the event's name and its fields beside each other", () => {
  const sink = recorder();
  logTo(sink).component("raft").info("becameLeader", { group: 0, term: 3 });
  expect(JSON.parse(sink.lines[0] ?? "")).toEqual({
    level: "info",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
    server: "s2",
    component: "raft",
    event: "becameLeader",
    group: 0,
    term: 3,
  });
});

test("fields cannot hide what the logger says itself", () => {
  const sink = recorder();
  logTo(sink).info("joined", { server: 3, time: 1, event: "x", level: "y" });
  const line = JSON.parse(sink.lines[0] ?? "") as Record<string, unknown>;
  expect(line).toMatchObject({ server: "s2", event: "joined", level: "info" });
  expect(line).toMatchObject({ server_: 3, time_: 1, event_: "x", level_: "y" });
});

test("errors, bytes and bigints keep what they say", () => {
  const sink = recorder();
  const error = new Error("write failed", { cause: new Error("no space") });
  logTo(sink).error("storageFailed", { error, key: Uint8Array.of(0, 255), size: 5n });
  expect(JSON.parse(sink.lines[0] ?? "")).toMatchObject({
    error: { name: "Error", message: "write failed", cause: { message: "no space" } },
    key: "00ff",
    size: "5",
  });
});

test("lines below the level are left out", () => {
  const sink = recorder();
  const log = logTo(sink, { level: "warn" });
  log.debug("a");
  log.info("b");
  log.warn("c");
  expect(sink.lines).toHaveLength(1);
});

test("the last words are written before fatal returns", () => {
  const sink = recorder();
  logTo(sink).fatal("bug", { error: new Error("x") });
  expect(sink.lines).toHaveLength(1);
  expect(sink.flushes).toBeGreaterThan(0);
});

test("the pretty form is one short line", () => {
  const sink = recorder();
  logTo(sink, { format: "pretty" }).component("net").warn("peerUnreachable", { peer: 3 });
  expect(sink.lines).toHaveLength(1);
  expect(sink.lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} s2 WARN net: peer unreachable peer=3\n$/);
});
