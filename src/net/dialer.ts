/**
 * Keeps a stream to one peer with a larger id: dials, and dials again when no stream could be made
 * or one broke.
 *
 * Every attempt has a channel of its own, closed with it. So no attempt inherits a backoff or a
 * connection that hangs: grpc-js waits for ever for a listener that accepts and stays silent
 * (research: grpc-js facts), and the attempt's timer ends that by cutting the channel.
 */

import { DialAttempt } from "./dial-attempt.ts";
import { localIds } from "./handshake.ts";
import type { NetworkContext, PeerLink } from "./peer-link.ts";

export class Dialer {
  readonly #link: PeerLink;
  readonly #context: NetworkContext;
  #address: string;
  #attempts = 0;
  #failuresInRow = 0;
  #isClosed = false;
  /** Ends what is under way: an attempt, or the wait before the next one. */
  #cancel: () => void = () => {};

  constructor(link: PeerLink, address: string, context: NetworkContext) {
    this.#link = link;
    this.#address = address;
    this.#context = context;
    this.#dial();
  }

  /** Dials the new address at once, unless it is the present one. */
  setAddress(address: string): void {
    if (address === this.#address) return;
    this.#address = address;
    this.#cancel();
    this.#link.close();
    this.#link.markUnreachable("its address changed");
    this.#failuresInRow = 0;
    this.#dial();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #dial(): void {
    const { bootNonce, standing } = this.#context;
    const { peer, acknowledged } = this.#link;
    const ids = localIds(this.#context, peer);
    const { storeUuid } = standing;
    const attempt = new DialAttempt({
      link: this.#link,
      address: this.#address,
      hello: { ...ids, bootNonce, attempt: ++this.#attempts, storeUuid, acknowledged },
      context: this.#context,
      onAccepted: () => {
        this.#failuresInRow = 0;
      },
      onFailed: (reason) => this.#retry(reason),
      onBroken: () => this.#retry(undefined),
    });
    this.#cancel = () => attempt.cancel();
  }

  /** reason: why no stream was made; undefined: one broke, and the link has said so. */
  #retry(reason: string | undefined): void {
    if (this.#isClosed) return;
    if (reason !== undefined) this.#link.markUnreachable(reason);
    const { timers, tuning, randomFraction } = this.#context;
    const ceilingMs = Math.min(
      tuning.backoffMsMax,
      tuning.backoffMsMin * 2 ** Math.min(this.#failuresInRow, 10),
    );
    this.#failuresInRow++;
    const delayMs = ceilingMs * (0.5 + randomFraction() / 2);
    this.#cancel = timers.after(delayMs, () => {
      if (!this.#isClosed) this.#dial();
    });
  }
}
