/**
 * Property 1: at most one leader in a group's term; a server's term never goes back, not over a
 * restart either; one vote per term, for ever.
 */

import type { ServerId } from "../../../src/base/brands.ts";
import type { Outbound } from "../../../src/raft/output.ts";
import type { Step } from "../group-history.ts";
import { must } from "../must.ts";

export class LeadersChecker {
  readonly #leaders = new Map<number, ServerId>();
  /** By server and term. */
  readonly #votes = new Map<string, number>();
  readonly #terms = new Map<ServerId, number>();

  onStep({ server, after }: Step): void {
    if (after.role !== "leader") return;
    const known = this.#leaders.get(after.term);
    must(
      known === undefined || known === server,
      1,
      `term ${after.term} has two leaders, ${known} and ${server}`,
    );
    this.#leaders.set(after.term, server);
  }

  onSend(server: ServerId, { to, message }: Outbound): void {
    this.#terms.set(server, Math.max(message.term, this.#terms.get(server) ?? 0));
    const isRequest = message.kind === "requestVote";
    if (!isRequest && !(message.kind === "requestVoteReply" && message.granted)) return;
    const choice = isRequest ? server : to;
    const ballot = `${server}/${message.term}`;
    const earlier = this.#votes.get(ballot) ?? choice;
    must(earlier === choice, 1, `server ${server} voted for ${earlier} and ${choice} in one term`);
    this.#votes.set(ballot, choice);
  }

  onRestart(server: ServerId, term: number): void {
    const sent = this.#terms.get(server) ?? 0;
    must(term >= sent, 1, `server ${server} was in term ${sent} and comes back in ${term}`);
  }
}
