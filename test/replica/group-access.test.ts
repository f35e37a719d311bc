/** Submitting: repeated while certainly without effect, handed to the caller when unknown. */

import { expect, test } from "vitest";
import type { LogIndex, ServerId } from "../../src/base/brands.ts";
import type { ForwardAnswer, ForwardCall, Forwarder } from "../../src/replica/ports.ts";
import { accessOf } from "./cluster.ts";
import { add } from "./counting-machine.ts";
import { entry, LoneReplica, watchOutcome } from "./lone-replica.ts";

class ScriptedForwarder implements Forwarder {
  readonly calls: { readonly to: ServerId; readonly call: ForwardCall }[] = [];
  readonly #answers: ForwardAnswer[];

  constructor(answers: readonly ForwardAnswer[]) {
    this.#answers = [...answers];
  }

  forward(to: ServerId, call: ForwardCall): Promise<ForwardAnswer> {
    this.calls.push({ to, call });
    const answer = this.#answers.shift();
    return answer === undefined ? new Promise(() => {}) : Promise.resolve(answer);
  }
}

function failed(
  outcome: "notApplied" | "unknown",
  reason: Extract<ForwardAnswer, { kind: "failed" }>["reason"],
): ForwardAnswer {
  return { kind: "failed", outcome, reason };
}

/** A follower of server 2, whose answers are scripted. */
async function follower(answers: readonly ForwardAnswer[]): Promise<{
  lone: LoneReplica;
  forwarder: ScriptedForwarder;
  access: ReturnType<typeof accessOf>;
}> {
  const lone = new LoneReplica();
  await lone.follow([entry(1, 1)], { term: 1, prev: [0, 0], commit: 1 });
  const forwarder = new ScriptedForwarder(answers);
  return { lone, forwarder, access: accessOf(1 as ServerId, lone.replica, forwarder, lone.clock) };
}

test("failures that certainly had no effect and may pass are tried again", async () => {
  const applied: ForwardAnswer = {
    kind: "applied",
    index: 7 as LogIndex,
    result: new Uint8Array([5, 7]),
  };
  const passing = [
    failed("notApplied", "notLeader"),
    failed("notApplied", "leaderChanged"),
    failed("notApplied", "unreachable"),
    failed("notApplied", "shuttingDown"),
  ];
  const { lone, forwarder, access } = await follower([...passing, applied]);
  const outcome = watchOutcome(access.submit(add(1), 1_000));
  await lone.clock.advance(500);
  expect(outcome.value).toEqual({ kind: "applied", answer: { total: 5, index: 7 } });
  expect(forwarder.calls.map(({ to }) => to)).toEqual([2, 2, 2, 2, 2]);
  const timeouts = forwarder.calls.map(({ call }) => call.timeoutMs);
  expect(timeouts).toEqual([1_000, 975, 950, 925, 900]);
  expect(access.counts.proposals).toEqual({ applied: 1, notApplied: 0, unknown: 0 });
});

test("an unknown outcome is never tried again, whatever its reason", async () => {
  for (const reason of [
    "notLeader",
    "leaderChanged",
    "unreachable",
    "shuttingDown",
    "deadlineExceeded",
  ] as const) {
    const { lone, forwarder, access } = await follower([failed("unknown", reason)]);
    const outcome = watchOutcome(access.submit(add(1), 1_000));
    await lone.clock.advance(2_000);
    expect(outcome.value).toEqual({ kind: "failed", outcome: "unknown", reason });
    expect(forwarder.calls).toHaveLength(1);
  }
});

test("overload is passed on: trying again at once would make it worse", async () => {
  const { lone, forwarder, access } = await follower([failed("notApplied", "overloaded")]);
  const outcome = watchOutcome(access.submit(add(1), 1_000));
  await lone.clock.advance(2_000);
  expect(outcome.value).toMatchObject({ outcome: "notApplied", reason: "overloaded" });
  expect(forwarder.calls).toHaveLength(1);
});

test("a leader that answers nothing in time is reached through another server", async () => {
  const { lone } = await follower([]);
  const asked: number[] = [];
  const forwarder: Forwarder = {
    forward: (to, { timeoutMs }) => {
      asked.push(to);
      if (to === 2) {
        return new Promise((resolve) => {
          lone.clock.after(timeoutMs, () => resolve(failed("unknown", "deadlineExceeded")));
        });
      }
      const result = new Uint8Array([5, 7]);
      return Promise.resolve({ kind: "applied", index: 7 as LogIndex, result });
    },
  };
  const access = accessOf(1 as ServerId, lone.replica, forwarder, lone.clock);
  expect(access.leaderServerId).toBe(2);
  for (let calls = 0; calls < 5; calls++) {
    const outcome = watchOutcome(access.submit(add(1), 800));
    await lone.clock.advance(900);
    expect(outcome.value?.kind).toBe(calls < 3 ? "failed" : "applied");
  }
  expect(asked).toEqual([2, 2, 2, 3, 3]);
});

test("an answer that cannot be read leaves the outcome unknown: it was applied", async () => {
  const result = new Uint8Array([0xff]);
  const { lone, access } = await follower([{ kind: "applied", index: 7 as LogIndex, result }]);
  const outcome = watchOutcome(access.submit(add(1), 1_000));
  await lone.clock.advance(10);
  expect(outcome.value).toEqual({ kind: "failed", outcome: "unknown", reason: "badAnswer" });
});

test("attempts end before the deadline, and the last refusal is the answer", async () => {
  const answers = Array.from({ length: 50 }, () => failed("notApplied", "notLeader"));
  const { lone, forwarder, access } = await follower(answers);
  const outcome = watchOutcome(access.submit(add(1), 100));
  await lone.clock.advance(99);
  expect(outcome.value).toMatchObject({ outcome: "notApplied", reason: "notLeader" });
  expect(forwarder.calls).toHaveLength(4);
});

test("staleness counts what is known to be committed, also from a read's answer (law 20)", async () => {
  const { lone, access } = await follower([]);
  expect(access.staleness()).toEqual({ revisions: 0, confirmedMsAgo: undefined });
  void access.read({ kind: "linearizable" }, 1_000);
  await lone.flush();
  const [request] = lone.take("readIndexRequest");
  if (request === undefined) throw new Error("a read is asked for");
  await lone.clock.advance(7);
  const readIndex = 4 as LogIndex;
  const { term } = lone;
  await lone.receive(2 as never, {
    kind: "readIndexReply",
    term,
    readId: request.readId,
    readIndex,
  });
  expect(access.staleness()).toEqual({ revisions: 3, confirmedMsAgo: 7 });
  expect(access.counts.reads).toEqual({ linearizable: 1, atLeast: 0, local: 0 });
});
