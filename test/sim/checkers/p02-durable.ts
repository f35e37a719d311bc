/**
 * Property 2: nothing is sent that depends on a term, a vote or entries that are not on the
 * sender's disk.
 */

import type { Outbound } from "../../../src/raft/output.ts";
import { must } from "../must.ts";
import type { DurableLog } from "../store-model.ts";

export function checkDurable(disk: DurableLog, { to, message }: Outbound, self: number): void {
  const { term, votedFor } = disk.hardState;
  must(message.term <= term, 2, `term ${message.term} is sent; ${term} is on disk`);
  const isRequest = message.kind === "requestVote";
  if (isRequest || (message.kind === "requestVoteReply" && message.granted)) {
    const choice = isRequest ? self : to;
    const isKept = term > message.term || votedFor === choice;
    must(isKept, 2, `a vote for ${choice} is sent; for ${votedFor} is on disk`);
  }
  const isAck = message.kind === "appendEntriesReply" && message.result.kind === "accepted";
  if (isAck && term === message.term) {
    const { matchIndex } = message.result;
    const { lastIndex } = disk;
    must(matchIndex <= lastIndex, 2, `${matchIndex} is acknowledged; ${lastIndex} is on disk`);
  }
}
