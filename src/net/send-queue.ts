/**
 * Messages that wait for one peer, in two classes. Urgent: everything small (heartbeats, votes,
 * replies, reads). Bulk: append messages with entries. Both are bounded; when one is full its
 * oldest message is dropped and counted, since raft sends again and newer messages say more.
 *
 * Within a class order is kept. Urgent overtakes bulk; nothing in raft relies on the order.
 */

import type { Envelope } from "../raft/messages.ts";
import { envelopeBytes } from "../wire/peer.ts";
import type { PeerTuning } from "./tuning.ts";

export class SendQueue {
  readonly #tuning: PeerTuning;
  readonly #urgent = new Fifo();
  readonly #bulk = new Fifo();
  /** Bulk was passed over for urgent messages: the next frame is bulk, so that it never starves. */
  #bulkIsOwed = false;
  #droppedUrgent = 0;
  #droppedBulk = 0;

  constructor(tuning: PeerTuning) {
    this.#tuning = tuning;
  }

  get isEmpty(): boolean {
    return this.#urgent.length === 0 && this.#bulk.length === 0;
  }

  get messages(): number {
    return this.#urgent.length + this.#bulk.length;
  }

  get bytes(): number {
    return this.#urgent.bytes + this.#bulk.bytes;
  }

  get droppedUrgent(): number {
    return this.#droppedUrgent;
  }

  get droppedBulk(): number {
    return this.#droppedBulk;
  }

  push(envelope: Envelope): void {
    const bytes = envelopeBytes(envelope);
    if (!isBulk(envelope)) {
      this.#urgent.push({ envelope, bytes });
      if (this.#urgent.length > this.#tuning.urgentMessagesMax) {
        this.#urgent.shift();
        this.#droppedUrgent++;
      }
      return;
    }
    this.#bulk.push({ envelope, bytes });
    const { bulkMessagesMax, bulkBytesMax } = this.#tuning;
    while (this.#bulk.length > bulkMessagesMax || this.#bulk.bytes > bulkBytesMax) {
      this.#bulk.shift();
      this.#droppedBulk++;
    }
  }

  /**
   * The messages of the next frame, removed from the queue; empty when nothing waits. At most one
   * bulk frame is taken between an urgent message's push and the frame that carries it.
   */
  takeFrame(): Envelope[] {
    const { frameBytesMax, mixedBulkBytesMax } = this.#tuning;
    const frame: Envelope[] = [];
    const bulkFirst = this.#urgent.length === 0 || (this.#bulkIsOwed && this.#bulk.length > 0);
    if (bulkFirst) {
      this.#bulk.moveTo(frame, frameBytesMax, true);
      this.#bulkIsOwed = false;
      return frame;
    }
    this.#urgent.moveTo(frame, frameBytesMax, true);
    const taken = this.#bulk.moveTo(frame, mixedBulkBytesMax, false);
    this.#bulkIsOwed = taken === 0 && this.#bulk.length > 0;
    return frame;
  }

  /** Drops everything, counted. */
  clear(): void {
    this.#droppedUrgent += this.#urgent.length;
    this.#droppedBulk += this.#bulk.length;
    this.#urgent.clear();
    this.#bulk.clear();
    this.#bulkIsOwed = false;
  }
}

function isBulk({ message }: Envelope): boolean {
  return message.kind === "appendEntries" && message.entries.length > 0;
}

interface Waiting {
  readonly envelope: Envelope;
  readonly bytes: number;
}

/** First in, first out, in amortised constant time: the array's used front is cut off in bulk. */
class Fifo {
  #items: Waiting[] = [];
  #head = 0;
  #bytes = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(item: Waiting): void {
    this.#items.push(item);
    this.#bytes += item.bytes;
  }

  shift(): Waiting | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head++;
    this.#bytes -= item.bytes;
    if (this.#head >= 64 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Moves messages of up to bytesMax together; the first one regardless, if so wished. */
  moveTo(frame: Envelope[], bytesMax: number, evenOneTooLarge: boolean): number {
    let bytes = 0;
    let taken = 0;
    for (;;) {
      const next = this.#items[this.#head];
      if (next === undefined) return taken;
      bytes += next.bytes;
      if (bytes > bytesMax && !(evenOneTooLarge && taken === 0)) return taken;
      this.shift();
      frame.push(next.envelope);
      taken++;
    }
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
    this.#bytes = 0;
  }
}
