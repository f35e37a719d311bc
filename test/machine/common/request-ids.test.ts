/** The memory of answered requests on its own, against a plain model of law 5. */

import { expect, test } from "vitest";
import type { Revision } from "../../../src/base/brands.ts";
import { compareStrings } from "../../../src/base/ordered-map.ts";
import { Prng } from "../../../src/base/prng.ts";
import {
  answerOnce,
  type RequestId,
  RequestMemory,
} from "../../../src/machine/common/request-ids.ts";

/** Everything that was ever answered, and each client's mark. */
class Model {
  readonly #answered = new Map<string, { effect: number; seen: number; answer: string }>();
  readonly #marks = new Map<string, number>();

  judge(id: RequestId, effect: number, revision: number): string {
    if (id.seenRevision > revision) return "seenRevisionAhead";
    if (id.sequence < (this.#marks.get(id.clientId) ?? 0)) return "requestIdExpired";
    const known = this.#answered.get(`${id.clientId}/${id.sequence}`);
    if (known === undefined) {
      const answer = `run at ${revision}`;
      this.#answered.set(`${id.clientId}/${id.sequence}`, {
        effect,
        seen: id.seenRevision,
        answer,
      });
      const mark = Math.min(id.acknowledgedBelow, id.sequence);
      this.#marks.set(id.clientId, Math.max(this.#marks.get(id.clientId) ?? 0, mark));
      return answer;
    }
    const isSame = known.effect === effect && known.seen === id.seenRevision;
    return isSame ? known.answer : "requestIdReused";
  }
}

test("random requests are answered as the plain model answers them (law 5)", () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 40; seed++) {
    const prng = Prng.fromSeed(seed);
    const memory = new RequestMemory<string>();
    const model = new Model();
    let highest = 0;
    for (let revision = 1; revision <= 150; revision++) {
      const sequence = Math.max(1, highest + prng.nextInteger(-6, 2));
      highest = Math.max(highest, sequence);
      const effect = prng.chance(0.9) ? sequence : 0;
      const requestId: RequestId = {
        clientId: prng.pick(["a", "b"]),
        sequence,
        seenRevision: (prng.chance(0.95) ? 0 : revision + prng.nextInteger(-1, 1)) as Revision,
        acknowledgedBelow: Math.max(0, sequence - prng.nextInteger(-2, 8)),
      };
      const { result, replayed } = answerOnce(memory, {
        requestId,
        revision: revision as Revision,
        fingerprint: () => new Uint8Array([effect & 0xff, effect >> 8]),
        run: () => `run at ${revision}`,
        refuse: (reason) => reason,
      });
      expect(result, `seed ${seed}, entry ${revision}`).toBe(
        model.judge(requestId, effect, revision),
      );
      expect(replayed).toBe(result.startsWith("run") && result !== `run at ${revision}`);
      seen.add(replayed ? "replayed" : result.startsWith("run") ? "run" : result);
    }
  }
  expect([...seen].toSorted(compareStrings)).toEqual([
    "replayed",
    "requestIdExpired",
    "requestIdReused",
    "run",
    "seenRevisionAhead",
  ]);
});

test("a request without an id just runs, and leaves no trace", () => {
  const memory = new RequestMemory<string>();
  const once = answerOnce(memory, {
    requestId: undefined,
    revision: 5 as Revision,
    fingerprint: () => {
      throw new Error("not needed");
    },
    run: () => "done",
    refuse: () => "refused",
  });
  expect(once).toEqual({ replayed: false, revision: 5, result: "done" });
  expect(memory.clientCount).toBe(0);
});
