/**
 * Who waits for the end of a transfer of leadership. The core takes requests in order and says of
 * each in the same step whether it was refused; one that was not has joined what runs.
 */

import type { Transition } from "../raft/output.ts";

/** "moved": this replica leads no more. "aborted": it went on. "refused": nothing was begun. */
export type TransferOutcome = "moved" | "aborted" | "refused";

type Settle = (outcome: TransferOutcome) => void;

export class Transfers {
  /** Not stepped yet, oldest first. */
  readonly #asked: Settle[] = [];
  readonly #running: Settle[] = [];

  asked(settle: Settle): void {
    this.#asked.push(settle);
  }

  /** The oldest request was stepped, with these transitions. */
  stepped(transitions: readonly Transition[]): void {
    const settle = this.#asked.shift();
    if (settle === undefined) return;
    if (transitions.some(({ kind }) => kind === "transferRefused")) settle("refused");
    else this.#running.push(settle);
  }

  settleRunning(outcome: TransferOutcome): void {
    for (const settle of this.#running.splice(0)) settle(outcome);
  }

  settleAll(outcome: TransferOutcome): void {
    for (const settle of this.#asked.splice(0)) settle(outcome);
    this.settleRunning(outcome);
  }
}
