/**
 * Inputs and outputs of a core in words, one line a fact: for scenario traces and failure reports.
 */

import type { ReplicaId } from "../../src/base/brands.ts";
import type { Input } from "../../src/raft/input.ts";
import type { Message } from "../../src/raft/messages.ts";
import type { Output, Transition } from "../../src/raft/output.ts";
import type { Entry, LogPosition } from "../../src/raft/types.ts";

export function inputToText(input: Input): string {
  switch (input.kind) {
    case "tick":
      return "tick";
    case "message":
      return `${input.from}>. ${messageToText(input.message)}`;
    case "propose":
      return `propose #${input.proposalId} (${input.payload.length} bytes)`;
    case "readIndex":
      return `read #${input.readId}`;
    case "persisted":
      return `persisted ${input.lastTerm}/${input.lastIndex}`;
    case "applied":
      return `applied ${input.index}`;
    case "snapshotTaken":
      return `snapshot taken ${positionToText(input.position)}`;
    case "snapshotReceived":
      return `snapshot received ${positionToText(input.position)}`;
    case "transfer":
      return `transfer to ${input.target ?? "-"}`;
    case "peerUnreachable":
      return `unreachable ${input.peer}`;
  }
}

/** Every fact of an output, in the order in which a host acts on it. */
export function outputToText(self: ReplicaId, output: Output): readonly string[] {
  const lines: string[] = output.transitions.map(
    (transition) => `${self} ${transitionToText(transition)}`,
  );
  const { persist } = output;
  if (persist !== undefined) {
    const parts: string[] = [];
    const { hardState, truncateFrom, base, snapshot, entries } = persist;
    if (hardState !== undefined) {
      const { term, votedFor, commitIndex } = hardState;
      parts.push(`term=${term} vote=${votedFor ?? "-"} commit=${commitIndex}`);
    }
    if (truncateFrom !== undefined) parts.push(`cut=${truncateFrom}`);
    if (snapshot !== undefined) parts.push(`snapshot=${positionToText(snapshot)}`);
    if (base !== undefined) parts.push(`base=${positionToText(base)}`);
    if (entries.length > 0) parts.push(`entries=${entriesToText(entries)}`);
    lines.push(`${self} write ${parts.join(" ")}`);
  }
  for (const { to, message } of output.sendNow) {
    lines.push(`${self}>${to} ${messageToText(message)}`);
  }
  for (const { to, message } of output.sendAfterPersist) {
    lines.push(`${self}>${to} after write: ${messageToText(message)}`);
  }
  for (const { proposalId, term, index } of output.proposed) {
    lines.push(`${self} proposed #${proposalId} ${term}/${index}`);
  }
  for (const { from, position } of output.fetches) {
    lines.push(`${self} fetches ${positionToText(position)} from ${from}`);
  }
  if (output.install !== undefined) {
    lines.push(`${self} installs ${positionToText(output.install)}`);
  }
  if (output.committed.length > 0) {
    lines.push(`${self} committed ${entriesToText(output.committed)}`);
  }
  for (const { readId, readIndex } of output.readsReady) {
    lines.push(`${self} read #${readId} at ${readIndex}`);
  }
  for (const { kind, id, reason, leaderId } of output.refused) {
    const hint = leaderId === undefined ? "" : ` leader=${leaderId}`;
    lines.push(`${self} refused ${kind} #${id} ${reason}${hint}`);
  }
  return lines;
}

export function messageToText(message: Message): string {
  const { term } = message;
  switch (message.kind) {
    case "preVote": {
      const last = `${message.lastTerm}/${message.lastIndex}`;
      return `preVote t${term} for=${message.nextTerm} last=${last}`;
    }
    case "preVoteReply":
      return `preVoteReply t${term} for=${message.nextTerm} ${message.granted ? "yes" : "no"}`;
    case "requestVote": {
      const kind = message.isTransfer ? " asked" : "";
      return `requestVote t${term} last=${message.lastTerm}/${message.lastIndex}${kind}`;
    }
    case "timeoutNow":
      return `timeoutNow t${term}`;
    case "requestVoteReply":
      return `requestVoteReply t${term} ${message.granted ? "yes" : "no"}`;
    case "appendEntries": {
      const { prevTerm, prevIndex, commitIndex, entries } = message;
      const list = entriesToText(entries);
      return `append t${term} prev=${prevTerm}/${prevIndex} commit=${commitIndex} entries=${list}`;
    }
    case "appendEntriesReply": {
      const { result } = message;
      if (result.kind === "accepted") return `appendReply t${term} match=${result.matchIndex}`;
      const hint = `${result.hintTerm}/${result.hintIndex}`;
      return `appendReply t${term} rejected prev=${result.prevIndex} hint=${hint}`;
    }
    case "heartbeat":
      return `heartbeat t${term} commit=${message.commitIndex} round=${message.round}`;
    case "heartbeatReply":
      return `heartbeatReply t${term} round=${message.round}`;
    case "readIndexRequest":
      return `readRequest t${term} #${message.readId}`;
    case "snapshotOffer":
      return `snapshotOffer t${term} ${positionToText(message.position)}`;
    case "readIndexReply":
      return `readReply t${term} #${message.readId} ${message.readIndex ?? "refused"}`;
  }
}

function transitionToText(transition: Transition): string {
  switch (transition.kind) {
    case "becameFollower":
      return `becomes follower t${transition.term} of=${transition.leaderId ?? "-"}`;
    case "becamePreCandidate":
      return `becomes preCandidate t${transition.term}`;
    case "becameCandidate":
      return `becomes candidate t${transition.term}`;
    case "becameLeader":
      return `becomes leader t${transition.term}`;
    case "leaderReady":
      return `is ready t${transition.term}`;
    case "steppedDown":
      return `steps down t${transition.term} ${transition.reason}`;
    case "transferStarted":
      return `moves its office to ${transition.target} t${transition.term}`;
    case "transferAborted":
      return `keeps its office from ${transition.target} t${transition.term}`;
    case "transferRefused":
      return `refuses a transfer t${transition.term} ${transition.reason}`;
    case "truncated":
      return `truncates from ${transition.fromIndex}`;
    case "snapshotAccepted":
      return `accepts snapshot ${positionToText(transition.position)}`;
    case "voted":
      return `votes for ${transition.for} t${transition.term}`;
  }
}

function positionToText({ term, index }: LogPosition): string {
  return `${term}/${index}`;
}

/** "2/5 2/6 3/7": term/index of each. */
function entriesToText(entries: readonly Entry[]): string {
  if (entries.length === 0) return "-";
  return entries.map(({ term, index }) => `${term}/${index}`).join(" ");
}
