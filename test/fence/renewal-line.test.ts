// Renewals in a line: what each names of those before it (law 13).
import fc from "fast-check";
import { expect, test } from "vitest";
import { RenewalLine } from "../../src/fence/renewal-line.ts";
import type { SentRenewal } from "../../src/fence/renewal.ts";
import { judgePair } from "../../src/machine/shard/renewal-pairs.ts";
import type { RenewalPair } from "../../src/wire/api.ts";
import { KNOWN_PAIRS_MAX } from "../../src/wire/limits.ts";
import { ms, revision } from "./support.ts";

function sentAt(firstSentMs: number): SentRenewal {
  return { firstSentMs: ms(firstSentMs), asOf: revision(10), except: [], view: new Map() };
}

/** A line whose nonces are 1,000 times their sequence. */
function line(): RenewalLine {
  let count = 0;
  return new RenewalLine(() => ++count * 1_000);
}

function send(one: RenewalLine, firstSentMs = 0): { pair: RenewalPair; known: number[] } {
  const renewal = one.next(() => sentAt(firstSentMs));
  if (renewal === undefined) throw new Error("there is a view to send");
  return { pair: renewal.pair, known: renewal.known.map(({ sequence }) => sequence) };
}

test("each renewal has the next sequence and a nonce of its own", () => {
  const renewals = line();
  expect(send(renewals).pair).toEqual({ sequence: 1, nonce: 1_000 });
  expect(send(renewals).pair).toEqual({ sequence: 2, nonce: 2_000 });
});

test("a renewal names the last answered one and all that were sent since", () => {
  const renewals = line();
  const first = send(renewals);
  expect(first.known).toEqual([]);
  expect(send(renewals).known).toEqual([1]);
  const third = send(renewals);
  expect(third.known).toEqual([1, 2]);
  renewals.noteAnswered(third.pair);
  expect(send(renewals).known).toEqual([3]);
  // The answer to an older one comes late: what was known stays known.
  renewals.noteAnswered(first.pair);
  expect(send(renewals).known).toEqual([3, 4]);
});

test("without a view there is no renewal, and no sequence is used up", () => {
  const renewals = line();
  expect(renewals.next(() => undefined)).toBeUndefined();
  expect(renewals.hasSent(1)).toBe(false);
  expect(send(renewals).pair.sequence).toBe(1);
  expect(renewals.hasSent(1)).toBe(true);
  expect(renewals.hasSent(2)).toBe(false);
});

test("when no more could be named, the newest is sent again unchanged until one is answered", () => {
  const renewals = line();
  for (let at = 0; at < KNOWN_PAIRS_MAX; at++) send(renewals, at);
  const newest = renewals.next(() => sentAt(500));
  expect(newest?.known).toHaveLength(KNOWN_PAIRS_MAX);
  for (let at = 0; at < 3; at++) {
    // With the time of its first sending, too: its answer counts from there (law 10).
    expect(renewals.next(() => sentAt(900))).toBe(newest);
  }
  expect(newest?.sent.firstSentMs).toBe(500);
  renewals.noteAnswered({ sequence: 2, nonce: 2_000 });
  expect(renewals.next(() => sentAt(900))).toMatchObject({
    pair: { sequence: KNOWN_PAIRS_MAX + 2 },
    sent: { firstSentMs: 900 },
  });
});

test("whatever is lost, late or repeated, a lone process never looks like two (law 13)", () => {
  const op = fc.record({
    kind: fc.constantFrom("send", "send", "apply", "applyOld", "answer"),
    at: fc.nat({ max: 200 }),
  });
  fc.assert(
    fc.property(fc.array(op, { maxLength: 300 }), (ops) => {
      const renewals = line();
      const sent: { pair: RenewalPair; known: readonly RenewalPair[] }[] = [];
      const applied: RenewalPair[] = [];
      for (const { kind, at } of ops) {
        if (kind === "send") {
          const renewal = renewals.next(() => sentAt(0));
          if (renewal !== undefined && sent.at(-1)?.pair !== renewal.pair) sent.push(renewal);
        }
        const one = kind === "apply" ? sent.at(-1) : sent[at % Math.max(1, sent.length)];
        if ((kind === "apply" || kind === "applyOld") && one !== undefined) {
          const verdict = judgePair(applied.at(-1), one);
          expect(verdict).not.toBe("otherProcess");
          if (verdict === "run") applied.push(one.pair);
        }
        const heard = applied[at % Math.max(1, applied.length)];
        if (kind === "answer" && heard !== undefined) renewals.noteAnswered(heard);
      }
    }),
    { numRuns: 500, seed: 4_711 },
  );
});

test("of two copies of a line, the group goes on with one at most (law 13)", () => {
  const op = fc.record({ copy: fc.boolean(), isLost: fc.boolean(), isAnswered: fc.boolean() });
  fc.assert(
    fc.property(fc.nat({ max: 5 }), fc.array(op, { maxLength: 60 }), (before, ops) => {
      let last: RenewalPair | undefined;
      // Both have sent the same until the machine was copied; from then on nonces are their own.
      const copies = [0, 1].map((own) => {
        let count = 0;
        const one = new RenewalLine(() => ++count * 1_000 + (count > before ? own : 0));
        for (let at = 0; at < before; at++) {
          const renewal = one.next(() => sentAt(0));
          if (renewal === undefined) throw new Error("there is a view to send");
          last = renewal.pair;
          one.noteAnswered(renewal.pair);
        }
        return { one, isAlive: true, ran: 0 };
      });
      for (const { copy, isLost, isAnswered } of ops) {
        const process = copies[copy ? 1 : 0];
        if (process?.isAlive !== true) continue;
        const renewal = process.one.next(() => sentAt(0));
        if (renewal === undefined || isLost) continue;
        const verdict = judgePair(last, renewal);
        if (verdict === "otherProcess") break;
        if (verdict === "late") {
          process.isAlive = process.one.hasSent(last?.sequence ?? 0);
          continue;
        }
        process.ran++;
        last = renewal.pair;
        if (isAnswered) process.one.noteAnswered(renewal.pair);
      }
      expect(copies.filter(({ ran }) => ran > 0).length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 1_000, seed: 4_712 },
  );
});
