/**
 * The memory of answered requests. It keeps each client's answers from its mark on (the largest
 * "acknowledged below" that it has sent) as long as the floor has not passed them, and nothing is
 * forgotten earlier: when it is full, new requests are refused.
 *
 * A client is known as long as an answer of it is kept. When its last one is forgotten, its mark
 * may be, too: whatever was below the mark was made from an older revision than that answer's own,
 * so it is below the floor.
 *
 * Values are immutable, so that a snapshot's cut is a frozen view of the two maps.
 */

import { assert } from "../../base/assert.ts";
import type { LogTimeMs, Revision } from "../../base/brands.ts";
import { compareStrings, numberMap, OrderedMap, stringMap } from "../../base/ordered-map.ts";
import { type Milestone, RequestFloor } from "./request-floor.ts";
import type { Remembered, RequestId, RequestRefusal, StoredMemory } from "./request-ids.ts";

/** What the table says of a request before it runs. */
export type RequestVerdict<Answer> =
  | { readonly kind: "new" }
  | { readonly kind: "repeated"; readonly answer: Answer; readonly revision: Revision }
  | { readonly kind: "refused"; readonly reason: RequestRefusal };

/** What a memory holds at most. One answer may go over the bytes: its size shows afterwards. */
export interface MemoryBounds {
  readonly answersMax: number;
  readonly answerBytesMax: number;
}

/**
 * Clients that acknowledge have a few answers here each. A hundred thousand is what clients of one
 * request each may leave behind in ten minutes at 160 a second, or what one client's stuck call
 * holds up in ten seconds at the rate of a whole group; about 60 MB.
 */
export const MEMORY_BOUNDS: MemoryBounds = {
  answersMax: 100_000,
  answerBytesMax: 64 * 1024 * 1024,
};

/** The memory as it was when the cut was opened. */
export interface MemoryCut<Answer> {
  readonly records: () => Generator<StoredMemory<Answer>>;
  readonly close: () => void;
}

/** Forgotten with one entry, at the most: more than it can add, and too few to be felt. */
const FORGET_MAX = 32;

type AnswerKey = Pick<Remembered<never>, "clientId" | "sequence">;

export class RequestMemory<Answer> {
  readonly #bytesOf: (answer: Answer) => number;
  readonly #bounds: MemoryBounds;
  readonly #floor: RequestFloor;
  /** Of every client that has an answer here. */
  readonly #marks: OrderedMap<string, number> = stringMap();
  readonly #answers: OrderedMap<AnswerKey, Remembered<Answer>> = new OrderedMap(compareKeys);
  /** The same answers in the order in which they were given. */
  readonly #byRevision: OrderedMap<number, Remembered<Answer>> = numberMap();
  #answerBytes = 0;

  /** `bytesOf` tells about how large an answer is, encoded; the same on every replica. */
  constructor(
    floor: Revision,
    bytesOf: (answer: Answer) => number,
    bounds: MemoryBounds = MEMORY_BOUNDS,
  ) {
    this.#floor = new RequestFloor(floor);
    this.#bytesOf = bytesOf;
    this.#bounds = bounds;
  }

  get clientCount(): number {
    return this.#marks.size;
  }

  get answerCount(): number {
    return this.#answers.size;
  }

  /** Of all answers, about. */
  get answerBytes(): number {
    return this.#answerBytes;
  }

  get floor(): Revision {
    return this.#floor.revision;
  }

  /**
   * An entry is applied: raises the floor, and forgets some of what is below it. The rest follows
   * with later entries; it is judged as forgotten all the same.
   */
  pass(timeMs: LogTimeMs, revision: Revision): void {
    this.#floor.pass(timeMs, revision);
    for (let count = 0; count < FORGET_MAX; count++) {
      const oldest = this.#byRevision.first();
      if (oldest === undefined || oldest[0] >= this.floor) return;
      const [, answer] = oldest;
      this.#drop(answer);
      if (!this.#hasAnswers(answer.clientId)) this.#marks.delete(answer.clientId);
    }
  }

  /** Judges a request that stands at `revision`. */
  judge(request: RequestId, fingerprint: number, revision: Revision): RequestVerdict<Answer> {
    const { clientId, sequence, seenRevision } = request;
    if (seenRevision > revision) return { kind: "refused", reason: "seenRevisionAhead" };
    const isBelow = seenRevision < this.floor || sequence < (this.#marks.get(clientId) ?? 0);
    if (isBelow) return { kind: "refused", reason: "requestIdExpired" };
    const remembered = this.#answers.get(request);
    if (remembered === undefined) {
      if (this.#hasRoom(request)) return { kind: "new" };
      return { kind: "refused", reason: "requestMemoryFull" };
    }
    const isSame =
      remembered.seenRevision === seenRevision && remembered.fingerprint === fingerprint;
    if (!isSame) return { kind: "refused", reason: "requestIdReused" };
    return { kind: "repeated", answer: remembered.answer, revision: remembered.revision };
  }

  /** Remembers an answer, refusals included, and drops what the client says it holds. */
  remember(request: RequestId, fingerprint: number, answer: Answer, revision: Revision): void {
    const { clientId, sequence, seenRevision } = request;
    const mark = Math.max(this.#marks.get(clientId) ?? 0, markOf(request));
    this.#marks.set(clientId, mark);
    for (const acknowledged of this.#below(clientId, mark)) this.#drop(acknowledged);
    this.#add({ clientId, sequence, seenRevision, fingerprint, answer, revision });
  }

  /** The memory's records as they are now, whatever is remembered or forgotten later. */
  openCut(): MemoryCut<Answer> {
    const floor = this.#floor.store();
    const marks = this.#marks.freeze();
    const answers = this.#answers.freeze();
    function* records(): Generator<StoredMemory<Answer>> {
      yield { kind: "floor", ...floor };
      const clients = marks.entries();
      let present: string | undefined;
      for (const [{ clientId, sequence }, remembered] of answers.entries()) {
        if (clientId !== present) {
          const client = clients.next();
          assert(client.done !== true && client.value[0] === clientId, "a client has a mark");
          yield { kind: "client", clientId, mark: client.value[1] };
          present = clientId;
        }
        const { seenRevision, fingerprint, answer, revision } = remembered;
        yield { kind: "answer", sequence, seenRevision, fingerprint, answer, revision };
      }
    }
    const close = (): void => {
      marks.close();
      answers.close();
    };
    return { records, close };
  }

  /** Adds what was stored at an entry, in its order; answers what is wrong, or undefined. */
  restore(stored: StoredMemory<Answer>, at: Milestone): string | undefined {
    const last = this.#marks.last();
    switch (stored.kind) {
      case "floor":
        return this.#floor.restore(stored, at);
      case "client":
        if (last !== undefined && last[0] >= stored.clientId) return "clients are not in order";
        this.#marks.set(stored.clientId, stored.mark);
        return undefined;
      case "answer": {
        if (last === undefined) return "an answer has no client";
        const [clientId, mark] = last;
        const { sequence, seenRevision, revision } = stored;
        const before = this.#answers.last()?.[0];
        const lowest = before?.clientId === clientId ? before.sequence + 1 : 0;
        if (sequence < Math.max(mark, lowest)) return "answers are not in order";
        const isOfThePast = seenRevision <= revision && revision <= at.revision;
        if (!isOfThePast || this.#byRevision.has(revision)) return "answers have an entry each";
        const { fingerprint, answer } = stored;
        this.#add({ clientId, sequence, seenRevision, fingerprint, answer, revision });
        return undefined;
      }
    }
  }

  /** Whether there is room for one answer more once the request's mark has been raised. */
  #hasRoom(request: RequestId): boolean {
    let count = this.#answers.size;
    let bytes = this.#answerBytes;
    const { answersMax, answerBytesMax } = this.#bounds;
    if (count < answersMax && bytes < answerBytesMax) return true;
    for (const { answer } of this.#below(request.clientId, markOf(request))) {
      count--;
      bytes -= this.#bytesOf(answer);
      if (count < answersMax && bytes < answerBytesMax) return true;
    }
    return false;
  }

  /** A client's answers with a lower sequence. */
  #below(clientId: string, mark: number): Remembered<Answer>[] {
    const below: Remembered<Answer>[] = [];
    for (const [key, remembered] of this.#answers.entriesFrom({ clientId, sequence: 0 })) {
      if (key.clientId !== clientId || key.sequence >= mark) break;
      below.push(remembered);
    }
    return below;
  }

  #hasAnswers(clientId: string): boolean {
    const [first] = this.#answers.entriesFrom({ clientId, sequence: 0 });
    return first?.[0].clientId === clientId;
  }

  #add(remembered: Remembered<Answer>): void {
    this.#answers.set(remembered, remembered);
    this.#byRevision.set(remembered.revision, remembered);
    this.#answerBytes += this.#bytesOf(remembered.answer);
  }

  #drop(remembered: Remembered<Answer>): void {
    this.#answers.delete(remembered);
    this.#byRevision.delete(remembered.revision);
    this.#answerBytes -= this.#bytesOf(remembered.answer);
  }
}

/** No mark forgets the request that carries it. */
function markOf({ acknowledgedBelow, sequence }: RequestId): number {
  return Math.min(acknowledgedBelow, sequence);
}

function compareKeys(a: AnswerKey, b: AnswerKey): number {
  return compareStrings(a.clientId, b.clientId) || a.sequence - b.sequence;
}
