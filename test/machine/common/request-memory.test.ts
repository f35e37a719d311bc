/** The memory of answered requests on its own: against a plain model of law 5, and when full. */

import { expect, test } from "vitest";
import type { LogTimeMs, Revision } from "../../../src/base/brands.ts";
import { compareStrings } from "../../../src/base/ordered-map.ts";
import { Prng } from "../../../src/base/prng.ts";
import { answerOnce, type OnceAnswer } from "../../../src/machine/common/answer-once.ts";
import {
  flawOfMemory,
  lossOfMemory,
  pictureOfMemory,
} from "../../../src/machine/common/request-checks.ts";
import type { RequestId } from "../../../src/machine/common/request-ids.ts";
import { type MemoryBounds, RequestMemory } from "../../../src/machine/common/request-memory.ts";

const MEMORY_MS = 600_000;
const bytesOf = ({ length }: string): number => length;

/** A memory, its log, and every check after each entry. */
class Subject {
  memory: RequestMemory<string>;
  revision = 0;
  timeMs = 0;
  runs = 0;
  readonly #bounds: MemoryBounds | undefined;

  constructor(bounds?: MemoryBounds) {
    this.#bounds = bounds;
    this.memory = new RequestMemory(0 as Revision, bytesOf, bounds);
  }

  /** An entry with a request, or another one without an id. */
  apply(requestId?: RequestId, effect = requestId?.sequence ?? 0): OnceAnswer<string> {
    const before = pictureOfMemory(this.memory);
    const revision = ++this.revision as Revision;
    this.memory.pass(this.timeMs as LogTimeMs, revision);
    const once = answerOnce(this.memory, {
      requestId,
      revision,
      effect: () => new Uint8Array([effect & 0xff, effect >> 8]),
      run: () => `run ${++this.runs} at ${revision}`,
      refuse: (reason) => reason,
    });
    expect(flawOfMemory(this.memory, revision)).toBeUndefined();
    expect(lossOfMemory(before, this.memory)).toBeUndefined();
    return once;
  }

  /** What the request was answered. */
  ask(...args: Parameters<Subject["apply"]>): string {
    const { replayed, result } = this.apply(...args);
    return replayed ? `again: ${result}` : result;
  }

  /** The memory is put away and read again. */
  restore(): void {
    const cut = this.memory.openCut();
    const restored = new RequestMemory(0 as Revision, bytesOf, this.#bounds);
    const at = { timeMs: this.timeMs as LogTimeMs, revision: this.revision as Revision };
    for (const record of cut.records()) expect(restored.restore(record, at)).toBeUndefined();
    cut.close();
    expect(pictureOfMemory(restored)).toEqual(pictureOfMemory(this.memory));
    this.memory = restored;
  }
}

function idOf(clientId: string, sequence: number, more: Partial<RequestId> = {}): RequestId {
  return { clientId, sequence, seenRevision: 0 as Revision, acknowledgedBelow: 0, ...more };
}

/** Law 5 with a memory without bounds: everything that was ever answered, and all marks. */
class Model {
  readonly #answered = new Map<string, { effect: number; seen: number; answer: string }>();
  readonly #marks = new Map<string, number>();

  judge(id: RequestId, effect: number, at: { revision: number; floor: number }): string {
    if (id.seenRevision > at.revision) return "seenRevisionAhead";
    if (id.seenRevision < at.floor) return "requestIdExpired";
    if (id.sequence < (this.#marks.get(id.clientId) ?? 0)) return "requestIdExpired";
    const name = `${id.clientId}/${id.sequence}`;
    const known = this.#answered.get(name);
    if (known === undefined) return "new";
    const isSame = known.effect === effect && known.seen === id.seenRevision;
    return isSame ? `again: ${known.answer}` : "requestIdReused";
  }

  remember(id: RequestId, effect: number, answer: string): void {
    const name = `${id.clientId}/${id.sequence}`;
    this.#answered.set(name, { effect, seen: id.seenRevision, answer });
    const mark = Math.min(id.acknowledgedBelow, id.sequence);
    this.#marks.set(id.clientId, Math.max(this.#marks.get(id.clientId) ?? 0, mark));
  }
}

/** Makes ids as clients do: in order, from revisions that never go back. */
class IdMaker {
  readonly made: RequestId[] = [];
  readonly #prng: Prng;
  #seen = 0;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  make(clientId: string, revision: number): RequestId {
    const prng = this.#prng;
    const sequence = this.made.length + 1;
    this.#seen = Math.max(this.#seen, revision - prng.nextInteger(0, 4));
    const acknowledgedBelow = Math.max(0, sequence - prng.nextInteger(0, 9));
    const seenRevision = this.#seen as Revision;
    const id = { clientId, sequence, seenRevision, acknowledgedBelow };
    this.made.push(id);
    return id;
  }
}

test("random requests are answered as by a memory without bounds (law 5)", () => {
  const seen = new Map<string, number>();
  for (let seed = 1; seed <= 25; seed++) {
    const prng = Prng.fromSeed(seed);
    const subject = new Subject();
    const model = new Model();
    const clients = new Map(["a", "b", "c"].map((name) => [name, new IdMaker(prng)]));
    for (let entry = 0; entry < 400; entry++) {
      subject.timeMs += prng.chance(0.5)
        ? 0
        : prng.nextInteger(0, prng.chance(0.02) ? 900_000 : 20_000);
      const clientId = prng.pick(["a", "b", "c"]);
      const maker = clients.get(clientId) ?? new IdMaker(prng);
      const isNew = maker.made.length === 0 || prng.chance(0.5);
      let id = isNew ? maker.make(clientId, subject.revision) : prng.pick(maker.made);
      const otherSeen = prng.pick([subject.revision + 2, 0]) as Revision;
      if (prng.chance(0.06)) id = { ...id, seenRevision: otherSeen };
      const effect = prng.chance(0.95) ? id.sequence : 0;
      const answer = subject.ask(id, effect);
      const { revision } = subject;
      const { floor } = subject.memory;
      const judged = model.judge(id, effect, { revision, floor });
      const expected = judged === "new" ? `run ${subject.runs} at ${revision}` : judged;
      expect(answer, `seed ${seed}, entry ${entry}`).toBe(expected);
      if (judged === "new") model.remember(id, effect, answer);
      const kind = judged.startsWith("again") ? "again" : judged;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      if (prng.chance(0.05)) subject.restore();
    }
  }
  expect([...seen.keys()].toSorted(compareStrings)).toEqual([
    "again",
    "new",
    "requestIdExpired",
    "requestIdReused",
    "seenRevisionAhead",
  ]);
  for (const [kind, count] of seen) expect(count, kind).toBeGreaterThan(50);
});

test("a request without an id just runs, and leaves no trace", () => {
  const subject = new Subject();
  expect(subject.apply(undefined)).toEqual({ replayed: false, revision: 1, result: "run 1 at 1" });
  expect(subject.memory.clientCount).toBe(0);
});

test("an id below the floor is not run, and its outcome unknown, whatever is still kept", () => {
  const subject = new Subject();
  const id = idOf("a", 1);
  expect(subject.ask(id)).toBe("run 1 at 1");
  subject.timeMs = MEMORY_MS - 1;
  expect(subject.ask(id)).toBe("again: run 1 at 1");
  subject.timeMs = MEMORY_MS;
  expect(subject.ask(id)).toBe("requestIdExpired");
  // Made from a revision of now, the same request is another one.
  const later = idOf("a", 2, { seenRevision: subject.revision as Revision });
  expect(subject.ask(later)).toBe("run 2 at 4");
});

test("a client's mark is kept as long as an id below it could be run, and not longer", () => {
  const subject = new Subject();
  subject.apply(idOf("a", 1));
  subject.timeMs = 300_000;
  const seenRevision = subject.revision as Revision;
  subject.apply(idOf("a", 2, { seenRevision, acknowledgedBelow: 2 }));
  const late = idOf("a", 1, { seenRevision });
  expect(subject.ask(late)).toBe("requestIdExpired");
  subject.timeMs = 899_999;
  expect(subject.ask(late)).toBe("requestIdExpired");
  expect(subject.memory.clientCount).toBe(1);
  subject.timeMs = 920_000;
  expect(subject.ask(late)).toBe("requestIdExpired");
  subject.timeMs += MEMORY_MS;
  subject.apply();
  expect([subject.memory.clientCount, subject.memory.answerCount]).toEqual([0, 0]);
  expect(subject.memory.answerBytes).toBe(0);
});

test("millions of clients of one request each: a few are forgotten with each entry, all in time", () => {
  const memory = new RequestMemory(0 as Revision, bytesOf);
  const clients = 20_000;
  let revision = 0;
  const pass = (timeMs: number): void => memory.pass(timeMs as LogTimeMs, ++revision as Revision);
  for (let client = 0; client < clients; client++) {
    pass(client);
    memory.remember(idOf(`one-shot-${client}`, 1), 1, "done", revision as Revision);
  }
  expect(memory.clientCount).toBe(clients);
  const endMs = clients + MEMORY_MS;
  let last = memory.clientCount;
  // The last one may be younger than what follows it, which there is not yet.
  for (let entries = 0; memory.clientCount > 1; entries++) {
    pass(endMs + entries);
    expect(last - memory.clientCount).toBeLessThanOrEqual(32);
    expect(entries).toBeLessThanOrEqual(clients / 32);
    last = memory.clientCount;
  }
  pass(endMs + 2 * MEMORY_MS);
  expect([memory.clientCount, memory.answerCount, memory.answerBytes]).toEqual([0, 0, 0]);
});

test("a full memory refuses new requests, forgets nothing, and answers repeats", () => {
  const subject = new Subject({ answersMax: 3, answerBytesMax: 1_000 });
  const ids = [1, 2, 3].map((sequence) => idOf("a", sequence));
  for (const [at, id] of ids.entries()) expect(subject.ask(id)).toBe(`run ${at + 1} at ${at + 1}`);
  expect(subject.ask(idOf("a", 4))).toBe("requestMemoryFull");
  expect(subject.ask(idOf("b", 1))).toBe("requestMemoryFull");
  for (const id of ids) expect(subject.ask(id)).toMatch(/^again: /);
  expect(subject.ask(idOf("a", 2), 9)).toBe("requestIdReused");
  expect(subject.memory.clientCount).toBe(1);
  // The same request again, when there is room: it was not run, and is not taken for a repeat.
  expect(subject.ask(idOf("a", 5, { acknowledgedBelow: 3 }))).toBe("run 4 at 10");
  expect(subject.ask(idOf("b", 1))).toBe("run 5 at 11");
  expect(subject.ask(idOf("a", 4, { acknowledgedBelow: 2 }))).toBe("requestMemoryFull");
  expect(subject.ask(idOf("a", 1))).toBe("requestIdExpired");
});

test("a memory that is full of other clients' answers has room again when the floor rises", () => {
  const subject = new Subject({ answersMax: 2, answerBytesMax: 1_000 });
  subject.apply(idOf("a", 1));
  subject.timeMs = 20_000;
  subject.apply(idOf("b", 1));
  subject.timeMs = 25_000;
  subject.apply();
  const seenRevision = subject.revision as Revision;
  const waiting = idOf("c", 1, { seenRevision });
  expect(subject.ask(waiting)).toBe("requestMemoryFull");
  subject.timeMs = MEMORY_MS + 19_999;
  expect(subject.ask(waiting)).toBe("requestMemoryFull");
  subject.timeMs = MEMORY_MS + 20_000;
  expect(subject.ask(waiting)).toBe("run 4 at 6");
});

test("the bytes of answers are bounded, too, by one answer more at the most", () => {
  const memory = new RequestMemory(0 as Revision, bytesOf, { answersMax: 100, answerBytesMax: 50 });
  const verdict = (id: RequestId): string => memory.judge(id, 1, 9 as Revision).kind;
  const long = "x".repeat(40);
  memory.remember(idOf("a", 1), 1, long, 1 as Revision);
  expect(verdict(idOf("b", 1))).toBe("new");
  memory.remember(idOf("b", 1), 1, long, 2 as Revision);
  expect(memory.answerBytes).toBe(80);
  expect(memory.judge(idOf("c", 1), 1, 9 as Revision)).toEqual({
    kind: "refused",
    reason: "requestMemoryFull",
  });
  expect(verdict(idOf("b", 2, { acknowledgedBelow: 1 }))).toBe("refused");
  expect(verdict(idOf("b", 2, { acknowledgedBelow: 2 }))).toBe("new");
});

test("records that no memory has are refused", () => {
  const at = { timeMs: 0 as LogTimeMs, revision: 9 as Revision };
  const answer = { sequence: 4, seenRevision: 2 as Revision, fingerprint: 1 };
  const good = { kind: "answer", ...answer, answer: "x" } as const;
  const fresh = (): RequestMemory<string> => {
    const memory = new RequestMemory<string>(0 as Revision, bytesOf);
    expect(memory.restore({ kind: "client", clientId: "b", mark: 3 }, at)).toBeUndefined();
    return memory;
  };
  const revision = 5 as Revision;
  expect(fresh().restore({ ...good, revision }, at)).toBeUndefined();
  for (const wrong of [
    { ...good, revision, sequence: 2 },
    { ...good, revision: 1 as Revision },
    { ...good, revision: 10 as Revision },
    { kind: "client", clientId: "b", mark: 0 } as const,
    { kind: "client", clientId: "a", mark: 0 } as const,
  ]) {
    expect(fresh().restore(wrong, at)).toEqual(expect.any(String));
  }
  const twice = fresh();
  expect(twice.restore({ ...good, revision }, at)).toBeUndefined();
  expect(twice.restore({ ...good, revision }, at)).toEqual(expect.any(String));
  expect(twice.restore({ ...good, revision, sequence: 5 }, at)).toEqual(expect.any(String));
  const empty = new RequestMemory<string>(0 as Revision, bytesOf);
  expect(empty.restore({ ...good, revision }, at)).toEqual(expect.any(String));
});
