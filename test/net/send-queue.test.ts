import { expect, test } from "vitest";
import type { Envelope } from "../../src/raft/messages.ts";
import { SendQueue } from "../../src/net/send-queue.ts";
import { DEFAULT_TUNING } from "../../src/net/tuning.ts";
import { append, heartbeat } from "../integration/net/support.ts";

const KIB = 1024;

function queueOf(...envelopes: readonly Envelope[]): SendQueue {
  const queue = new SendQueue(DEFAULT_TUNING);
  for (const envelope of envelopes) queue.push(envelope);
  return queue;
}

/** "h1" for heartbeat round 1, "a5" for an append after index 5. */
function names(envelopes: readonly Envelope[]): string {
  return envelopes
    .map(({ message }) => {
      if (message.kind === "heartbeat") return `h${message.round}`;
      if (message.kind === "appendEntries") return `a${message.prevIndex}`;
      return message.kind;
    })
    .join(" ");
}

function frames(queue: SendQueue): string[] {
  const all: string[] = [];
  for (let frame = queue.takeFrame(); frame.length > 0; frame = queue.takeFrame()) {
    all.push(names(frame));
  }
  return all;
}

test("everything small that waits goes into one frame, urgent first", () => {
  const queue = queueOf(append(1, [100]), heartbeat(1), append(2, [100, 100]), heartbeat(2));
  expect(frames(queue)).toEqual(["h1 h2 a1 a2"]);
  expect(queue.isEmpty).toBe(true);
});

test("a bulk frame ends before 256 KiB, and one larger message travels alone", () => {
  const queue = queueOf(
    append(1, [100 * KIB]),
    append(2, [100 * KIB]),
    append(3, [100 * KIB]),
    append(4, [600 * KIB]),
    append(5, [1]),
  );
  expect(frames(queue)).toEqual(["a1 a2", "a3", "a4", "a5"]);
});

test("large bulk never shares a frame with an urgent message", () => {
  expect(frames(queueOf(append(1, [100 * KIB]), heartbeat(1)))).toEqual(["h1", "a1"]);
});

test("at most one bulk frame goes before an urgent message, and bulk never starves", () => {
  const queue = queueOf(append(1, [200 * KIB]), append(2, [200 * KIB]), heartbeat(1));
  expect(names(queue.takeFrame())).toBe("h1");
  queue.push(heartbeat(2));
  expect(names(queue.takeFrame())).toBe("a1");
  queue.push(heartbeat(3));
  expect(names(queue.takeFrame())).toBe("h2 h3");
  queue.push(heartbeat(4));
  expect(names(queue.takeFrame())).toBe("a2");
  expect(names(queue.takeFrame())).toBe("h4");
});

test("an append without entries is a probe and urgent", () => {
  expect(frames(queueOf(append(1, [100 * KIB]), append(2, [])))).toEqual(["a2", "a1"]);
});

test("bulk is bounded in bytes: the oldest is dropped and counted", () => {
  const queue = new SendQueue({ ...DEFAULT_TUNING, bulkBytesMax: 300 * KIB });
  for (let i = 1; i <= 5; i++) queue.push(append(i, [100 * KIB]));
  expect(queue.droppedBulk).toBe(3);
  expect(queue.bytes).toBeLessThanOrEqual(300 * KIB);
  expect(frames(queue)).toEqual(["a4 a5"]);
  expect(queue.bytes).toBe(0);
});

test("both classes are bounded in messages, and neither pushes out the other", () => {
  const queue = new SendQueue({ ...DEFAULT_TUNING, urgentMessagesMax: 2, bulkMessagesMax: 1 });
  for (let i = 1; i <= 3; i++) {
    queue.push(heartbeat(i));
    queue.push(append(i, [1]));
  }
  expect([queue.droppedUrgent, queue.droppedBulk]).toEqual([1, 2]);
  expect(frames(queue)).toEqual(["h2 h3 a3"]);
});

test("order within a class survives thousands of messages in and out", () => {
  const queue = new SendQueue(DEFAULT_TUNING);
  const taken: string[] = [];
  for (let round = 0; round < 100; round++) {
    for (let i = 0; i < 50; i++) queue.push(heartbeat(round * 50 + i));
    if (round % 3 === 0) taken.push(...names(queue.takeFrame()).split(" "));
  }
  taken.push(...frames(queue).flatMap((frame) => frame.split(" ")));
  expect(taken).toEqual(Array.from({ length: 5_000 }, (_, i) => `h${i}`));
});

test("clearing drops everything, counted", () => {
  const queue = queueOf(heartbeat(1), heartbeat(2), append(1, [1]));
  queue.clear();
  expect([queue.messages, queue.bytes, queue.droppedUrgent, queue.droppedBulk]).toEqual([
    0, 0, 2, 1,
  ]);
});
