// The short form of a log record.
import { expect, test } from "vitest";
import { renderRecord } from "../../src/server/log-line.ts";

const RECORD = {
  level: "info",
  time: "2031-05-06T12:03:04.123Z",
  server: "s1",
  component: "raft",
  event: "becameLeader",
  group: 0,
  term: 3,
};

test("an event is one short line that begins with the time and the server", () => {
  expect(renderRecord(RECORD, 0)).toBe("12:03:04.123 s1 raft: became leader group=0 term=3");
});

test("the time is the reader's", () => {
  expect(renderRecord(RECORD, 90)).toMatch(/^13:33:04\.123 /);
  expect(renderRecord(RECORD, -13 * 60)).toMatch(/^23:03:04\.123 /);
});

test("what is not information says how bad it is", () => {
  expect(renderRecord({ ...RECORD, level: "warn" }, 0)).toContain(" s1 WARN raft: ");
  expect(renderRecord({ ...RECORD, level: "debug" }, 0)).toContain(" s1 raft: ");
});

test("whatever the values hold, it stays one line", () => {
  const fields = { reason: "a\nb c", list: [1, "x"], nothing: null, gone: undefined };
  const line = renderRecord({ level: "info", time: 7, event: "two\nlines", ...fields }, 0);
  expect(line).toContain('two lines reason="a\\nb c" list="[1,\\"x\\"]" nothing=null');
  expect(line).not.toContain("\n");
  expect(line).not.toContain("gone");
});

test("of an error the message is shown, and long values are cut", () => {
  const error = { name: "Error", message: "disk full", stack: "Error: disk full\n  at x" };
  expect(renderRecord({ event: "e", error }, 0)).toBe('--:--:--.--- e error="disk full"');
  expect(renderRecord({ event: "e", key: "k".repeat(500) }, 0).length).toBeLessThan(230);
});
