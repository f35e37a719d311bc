/**
 * A store downstream of the owners: it remembers the high-water by key span, with the data, and
 * refuses a guarded write whose epoch is older (law 17). It loses requests and answers on the way,
 * and what it had not made durable when it crashes.
 */

import type { Epoch } from "../../../src/base/brands.ts";
import type { Prng } from "../../../src/base/prng.ts";
import type { Span } from "../../../src/base/span.ts";
import { EpochMap } from "../../../src/fence/epoch-map.ts";
import type { RememberedEpoch } from "../../../src/fence/epochs.ts";
import type { VirtualClock } from "../../../src/testing/virtual-clock.ts";
import type { Party } from "./party.ts";

/** What a write carries beside its data. */
export interface FenceToken {
  readonly keyspace: string;
  readonly span: Span;
  readonly epoch: Epoch;
}

export interface StoreQuality {
  readonly delayMsMax: number;
  readonly loss: number;
  readonly duplication: number;
  readonly syncMsMax: number;
}

export type WriteResult = "accepted" | "fenced" | "unanswered";

const ANSWER_TIMEOUT_MS = 400;

export class FencedStore {
  readonly #clock: VirtualClock;
  readonly #prng: Prng;
  #quality: StoreQuality;
  readonly #onAccepted: (token: FenceToken) => void;
  #epochs = new EpochMap();
  /** Counts its processes; what an earlier one had not made durable is lost. */
  #life = 0;
  #isDown = false;

  constructor(options: {
    readonly clock: VirtualClock;
    readonly prng: Prng;
    readonly quality: StoreQuality;
    /** A write was accepted; its epoch is durable with it. */
    readonly onAccepted: (token: FenceToken) => void;
  }) {
    this.#clock = options.clock;
    this.#prng = options.prng;
    this.#quality = options.quality;
    this.#onAccepted = options.onAccepted;
  }

  setQuality(quality: StoreQuality): void {
    this.#quality = quality;
  }

  highWater(keyspace: string, span: Span): Epoch {
    return this.#epochs.highWater(keyspace, span);
  }

  /** Raises the high-water; an owner does before it first uses an epoch. True: it is durable. */
  async raise(from: Party, epochs: readonly RememberedEpoch[]): Promise<boolean> {
    const answer = await this.#ask(from, () => {
      this.#epochs.apply(this.#epochs.changeFor(epochs));
      return "accepted";
    });
    return answer === "accepted";
  }

  /** One guarded write. An unanswered one may arrive yet, however late. */
  write(from: Party, token: FenceToken): Promise<WriteResult> {
    return this.#ask(from, () => {
      const { keyspace, span, epoch } = token;
      if (this.#epochs.highWater(keyspace, span) > epoch) return "fenced";
      this.#epochs.apply(this.#epochs.changeFor([token]));
      this.#onAccepted(token);
      return "accepted";
    });
  }

  crash(): void {
    this.#life++;
    this.#isDown = true;
  }

  restart(): void {
    this.#isDown = false;
  }

  #ask(from: Party, run: () => WriteResult): Promise<WriteResult> {
    return new Promise((resolve) => {
      const end = (answer: WriteResult): void => {
        cancel();
        resolve(answer);
      };
      const cancel = from.clock.after(ANSWER_TIMEOUT_MS, () => end("unanswered"));
      const arrive = (): void => this.#serve(run, (answer) => from.clock.enter(() => end(answer)));
      if (this.#prng.chance(this.#quality.loss)) return;
      this.#clock.after(this.#delayMs(), arrive);
      if (this.#prng.chance(this.#quality.duplication)) {
        this.#clock.after(this.#delayMs() * 20, arrive);
      }
    });
  }

  /** Takes effect when it is durable, and is answered then. */
  #serve(run: () => WriteResult, answer: (result: WriteResult) => void): void {
    const life = this.#life;
    if (this.#isDown) return;
    this.#clock.after(this.#prng.nextFraction() * this.#quality.syncMsMax, () => {
      if (this.#life !== life) return;
      const result = run();
      if (this.#prng.chance(this.#quality.loss)) return;
      this.#clock.after(this.#delayMs(), () => answer(result));
    });
  }

  #delayMs(): number {
    return 0.1 + this.#prng.nextFraction() ** 3 * this.#quality.delayMsMax;
  }
}
