/**
 * The memory of answered requests: a repeat is answered and not run again (law 5).
 *
 * A client's table holds the answers from its mark on; the mark is the largest "acknowledged below"
 * that it has sent, and what lies below it is dropped at once and never run again. Lives in the
 * replicated state: every replica gives the same answer to the same repeat.
 */

import { type Bytes, bytesEqual } from "../../base/bytes.ts";
import type { Revision } from "../../base/brands.ts";
import { brandedUint, byteString, type Codec, struct, text, uint } from "../../base/codec.ts";
import { type FrozenMap, numberMap, type OrderedMap, stringMap } from "../../base/ordered-map.ts";
import { PreImages } from "./pre-images.ts";

/** Names one mutation of one client. */
export interface RequestId {
  readonly clientId: string;
  /** Counts the client's requests from 1. */
  readonly sequence: number;
  /** A revision of the group that the client had seen when it made the id. */
  readonly seenRevision: Revision;
  /** The client holds the answers of all its requests with a lower sequence. */
  readonly acknowledgedBelow: number;
}

export const requestIdCodec: Codec<RequestId> = struct<RequestId>({
  clientId: text,
  sequence: uint,
  seenRevision: brandedUint<Revision>(),
  acknowledgedBelow: uint,
});

/** What the table says of a request before it runs. */
export type RequestVerdict<Answer> =
  | { readonly kind: "new" }
  | { readonly kind: "repeated"; readonly answer: Answer; readonly revision: Revision }
  | { readonly kind: "refused"; readonly reason: RequestRefusal };

/**
 * "requestIdReused": same id, other effect or seen revision. "requestIdExpired": below the client's
 * mark, outcome unknown. "seenRevisionAhead": the client claims to have seen the future.
 */
export type RequestRefusal = "requestIdReused" | "requestIdExpired" | "seenRevisionAhead";

interface Remembered<Answer> {
  readonly fingerprint: Bytes;
  readonly seenRevision: Revision;
  readonly answer: Answer;
  readonly revision: Revision;
}

interface ClientMemory<Answer> {
  mark: number;
  readonly answers: OrderedMap<number, Remembered<Answer>>;
}

/** The memory as it is stored: each client, followed by its answers. */
export type StoredMemory<Answer> = StoredClient | StoredAnswer<Answer>;

export interface StoredClient {
  readonly kind: "client";
  readonly clientId: string;
  readonly mark: number;
}

export interface StoredAnswer<Answer> extends Remembered<Answer> {
  readonly kind: "answer";
  readonly sequence: number;
}

export const storedClientCodec: Codec<Omit<StoredClient, "kind">> = struct<
  Omit<StoredClient, "kind">
>({ clientId: text, mark: uint });

export function storedAnswerCodec<Answer>(
  answer: Codec<Answer>,
): Codec<Omit<StoredAnswer<Answer>, "kind">> {
  return struct<Omit<StoredAnswer<Answer>, "kind">>({
    sequence: uint,
    fingerprint: byteString,
    seenRevision: brandedUint<Revision>(),
    answer,
    revision: brandedUint<Revision>(),
  });
}

/** The memory as it was when the cut was opened. */
export interface MemoryCut<Answer> {
  /** Once. */
  records(): Generator<StoredMemory<Answer>>;
  close(): void;
}

interface ClientPicture<Answer> {
  readonly mark: number;
  readonly answers: FrozenMap<number, Remembered<Answer>>;
}

export class RequestMemory<Answer> {
  readonly #clients: OrderedMap<string, ClientMemory<Answer>> = stringMap();
  readonly #images = new PreImages<ClientMemory<Answer>, ClientPicture<Answer>>(pictureOf);

  /** Clients whose answers are remembered. */
  get clientCount(): number {
    return this.#clients.size;
  }

  /** Judges a request that stands at `revision`; `fingerprint` is its effect, encoded. */
  judge(request: RequestId, fingerprint: Bytes, revision: Revision): RequestVerdict<Answer> {
    if (request.seenRevision > revision) return { kind: "refused", reason: "seenRevisionAhead" };
    const client = this.#clients.get(request.clientId);
    if (client === undefined) return { kind: "new" };
    if (request.sequence < client.mark) return { kind: "refused", reason: "requestIdExpired" };
    const known = client.answers.get(request.sequence);
    if (known === undefined) return { kind: "new" };
    const same =
      known.seenRevision === request.seenRevision && bytesEqual(known.fingerprint, fingerprint);
    if (!same) return { kind: "refused", reason: "requestIdReused" };
    return { kind: "repeated", answer: known.answer, revision: known.revision };
  }

  /** Remembers an answer, refusals included, and drops what the client says it holds. */
  remember(request: RequestId, fingerprint: Bytes, answer: Answer, revision: Revision): void {
    let client = this.#clients.get(request.clientId);
    if (client === undefined) {
      client = { mark: 0, answers: numberMap() };
      this.#clients.set(request.clientId, client);
    }
    this.#images.keep(client);
    const { seenRevision } = request;
    client.answers.set(request.sequence, { fingerprint, seenRevision, answer, revision });
    this.#raiseMark(client, Math.min(request.acknowledgedBelow, request.sequence));
  }

  openCut(): MemoryCut<Answer> {
    const clients = this.#clients.freeze();
    const kept = this.#images.open();
    return {
      records: () => recordsOf(clients, kept),
      close: () => {
        clients.close();
        this.#images.close(kept);
        for (const { answers } of kept.values()) answers.close();
      },
    };
  }

  /** Adds what was stored, in its order; answers what is wrong with it, or undefined. */
  restore(stored: StoredMemory<Answer>): string | undefined {
    const last = this.#clients.last();
    if (stored.kind === "client") {
      const { clientId, mark } = stored;
      if (last !== undefined && last[0] >= clientId) return "clients are not in order";
      this.#clients.set(clientId, { mark, answers: numberMap() });
      return undefined;
    }
    if (last === undefined) return "an answer has no client";
    const { sequence, fingerprint, seenRevision, answer, revision } = stored;
    const [, { mark, answers }] = last;
    const lowest = (answers.last()?.[0] ?? -1) + 1;
    if (sequence < Math.max(mark, lowest)) return "answers are not in order";
    answers.set(sequence, { fingerprint, seenRevision, answer, revision });
    return undefined;
  }

  #raiseMark(client: ClientMemory<Answer>, mark: number): void {
    if (mark <= client.mark) return;
    client.mark = mark;
    for (;;) {
      const first = client.answers.first();
      if (first === undefined || first[0] >= mark) return;
      client.answers.delete(first[0]);
    }
  }
}

function pictureOf<Answer>({ mark, answers }: ClientMemory<Answer>): ClientPicture<Answer> {
  return { mark, answers: answers.freeze() };
}

function* recordsOf<Answer>(
  clients: FrozenMap<string, ClientMemory<Answer>>,
  kept: Map<ClientMemory<Answer>, ClientPicture<Answer>>,
): Generator<StoredMemory<Answer>> {
  for (const [clientId, client] of clients.entries()) {
    // Kept from its first record on: it may change between two of them.
    const picture = kept.get(client) ?? pictureOf(client);
    kept.set(client, picture);
    yield { kind: "client", clientId, mark: picture.mark };
    for (const [sequence, remembered] of picture.answers.entries()) {
      yield { kind: "answer", sequence, ...remembered };
    }
  }
}

/** An answer, and whether it was given before. */
export interface OnceAnswer<Answer> {
  readonly replayed: boolean;
  /** Revision of the entry that decided it: an earlier one when replayed. */
  readonly revision: Revision;
  readonly result: Answer;
}

/** Runs a command once per request id; without an id it just runs. Refusals are answers, too. */
export function answerOnce<Answer>(
  memory: RequestMemory<Answer>,
  request: {
    readonly requestId: RequestId | undefined;
    readonly revision: Revision;
    readonly fingerprint: () => Bytes;
    readonly run: () => Answer;
    readonly refuse: (reason: RequestRefusal, clientId: string) => Answer;
  },
): OnceAnswer<Answer> {
  const { requestId, revision } = request;
  if (requestId === undefined) return { replayed: false, revision, result: request.run() };
  const fingerprint = request.fingerprint();
  const verdict = memory.judge(requestId, fingerprint, revision);
  switch (verdict.kind) {
    case "repeated":
      return { replayed: true, revision: verdict.revision, result: verdict.answer };
    case "refused": {
      const result = request.refuse(verdict.reason, requestId.clientId);
      return { replayed: false, revision, result };
    }
    case "new": {
      const result = request.run();
      memory.remember(requestId, fingerprint, result, revision);
      return { replayed: false, revision, result };
    }
  }
}
