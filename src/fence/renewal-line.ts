/**
 * One seat's renewals in one group, in a line: each names itself by a sequence and a fresh random
 * nonce, and those before it that the group may have applied (law 13). By that the group tells two
 * processes of one incarnation apart, as there are after a machine was copied.
 *
 *   known = the last renewal that was answered, and all that were sent since
 *
 * The group has applied one of these, unless another process has sent renewals. Answered is what
 * the group has certainly applied: forgetting those before it can't hurt.
 */

import type { RenewalPair } from "../wire/api.ts";
import { KNOWN_PAIRS_MAX } from "../wire/limits.ts";
import type { SentRenewal } from "./renewal.ts";

/** A renewal on its way, the same for every transmission. */
export interface LinedRenewal {
  readonly sent: SentRenewal;
  readonly pair: RenewalPair;
  readonly known: readonly RenewalPair[];
}

export class RenewalLine {
  readonly #freshNonce: () => number;
  /** The last answered one, if there is one, and all that were sent since. */
  #known: readonly RenewalPair[] = [];
  #newest: LinedRenewal | undefined;

  constructor(freshNonce: () => number) {
    this.#freshNonce = freshNonce;
  }

  /**
   * What to send now: what `make` gives, as the next in the line; or, when so many wait for an
   * answer that no more could be named, the newest of them as it was sent before.
   */
  next(make: () => SentRenewal | undefined): LinedRenewal | undefined {
    if (this.#known.length > KNOWN_PAIRS_MAX) return this.#newest;
    const sent = make();
    if (sent === undefined) return undefined;
    const sequence = (this.#newest?.pair.sequence ?? 0) + 1;
    const pair = { sequence, nonce: this.#freshNonce() };
    this.#newest = { sent, pair, known: this.#known };
    this.#known = [...this.#known, pair];
    return this.#newest;
  }

  /** The group has answered it as applied. */
  noteAnswered({ sequence }: RenewalPair): void {
    this.#known = this.#known.filter((one) => one.sequence >= sequence);
  }

  /** False: another process of this incarnation has sent it. */
  hasSent(sequence: number): boolean {
    return sequence <= (this.#newest?.pair.sequence ?? 0);
  }
}
