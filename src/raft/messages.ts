/**
 * Messages between the replicas of one group. Every message carries its sender's term.
 *
 * Messages may be lost, delayed, repeated and reordered; nothing here relies on a channel's order.
 * Sources: Raft §5, Ongaro §6.4 (ReadIndex), §9.6 (pre-vote).
 */

import type { GroupId, LogIndex, ReplicaId, Term } from "../base/brands.ts";
import type { Entry, LogPosition } from "./types.ts";

/** A message on its way, with the ids that the receiver checks before it looks inside. */
export interface Envelope {
  readonly group: GroupId;
  readonly from: ReplicaId;
  readonly to: ReplicaId;
  readonly message: Message;
}

export type Message =
  | PreVote
  | PreVoteReply
  | RequestVote
  | RequestVoteReply
  | AppendEntries
  | AppendEntriesReply
  | Heartbeat
  | HeartbeatReply
  | ReadIndexRequest
  | ReadIndexReply
  | SnapshotOffer
  | TimeoutNow;

/**
 * "Would you vote for me?" Changes nothing at the receiver but a lower term, and not even that
 * while it hears from a leader. `term` is the sender's present term; `nextTerm` the one it would
 * campaign in.
 */
export interface PreVote {
  readonly kind: "preVote";
  readonly term: Term;
  readonly nextTerm: Term;
  readonly lastIndex: LogIndex;
  readonly lastTerm: Term;
}

/** Answers carry the receiver's own term, so that a refused pre-candidate adopts a higher one. */
export interface PreVoteReply {
  readonly kind: "preVoteReply";
  readonly term: Term;
  /** Echo of the request's nextTerm: a late answer to an earlier attempt is not counted. */
  readonly nextTerm: Term;
  readonly granted: boolean;
}

export interface RequestVote {
  readonly kind: "requestVote";
  readonly term: Term;
  /** The leader itself has asked for it: whoever hears that leader answers all the same. */
  readonly isTransfer: boolean;
  readonly lastIndex: LogIndex;
  readonly lastTerm: Term;
}

export interface RequestVoteReply {
  readonly kind: "requestVoteReply";
  readonly term: Term;
  readonly granted: boolean;
}

export interface AppendEntries {
  readonly kind: "appendEntries";
  readonly term: Term;
  readonly prevIndex: LogIndex;
  readonly prevTerm: Term;
  readonly commitIndex: LogIndex;
  /** Contiguous from prevIndex + 1; may be empty (a probe). */
  readonly entries: readonly Entry[];
}

export interface AppendEntriesReply {
  readonly kind: "appendEntriesReply";
  readonly term: Term;
  readonly result:
    | {
        readonly kind: "accepted";
        /** prevIndex + entries of that message: what it verified, and is durable here. */
        readonly matchIndex: LogIndex;
      }
    | {
        readonly kind: "rejected";
        /** Echo of the prevIndex that did not match. */
        readonly prevIndex: LogIndex;
        /** Where to probe next: at most this index, whose term here is hintTerm. */
        readonly hintIndex: LogIndex;
        readonly hintTerm: Term;
      };
}

export interface Heartbeat {
  readonly kind: "heartbeat";
  readonly term: Term;
  /** min(commitIndex, the follower's matchIndex): never more than this follower holds. */
  readonly commitIndex: LogIndex;
  /**
   * Read round, counted from 1 in each leader's term and never reused (etcd #20418). 0: only
   * tells the commit index, and wants no answer.
   */
  readonly round: number;
}

export interface HeartbeatReply {
  readonly kind: "heartbeatReply";
  readonly term: Term;
  /** Echo of the heartbeat's round; 0 when the heartbeat was of an earlier term. */
  readonly round: number;
}

/** A follower asks for a read index; readId is fresh for every attempt. */
export interface ReadIndexRequest {
  readonly kind: "readIndexRequest";
  readonly term: Term;
  readonly readId: number;
}

export interface ReadIndexReply {
  readonly kind: "readIndexReply";
  readonly term: Term;
  readonly readId: number;
  /** undefined: refused (no longer leader, or too many reads); ask again with a new id. */
  readonly readIndex: LogIndex | undefined;
}

/**
 * "What you lack is no longer in my log; my snapshot stands here." The file itself is fetched
 * beside the stream. Answered by an AppendEntriesReply once the follower's log goes that far.
 */
export interface SnapshotOffer {
  readonly kind: "snapshotOffer";
  readonly term: Term;
  readonly position: LogPosition;
}

/** "Stand for election at once: you hold my whole log" (Ongaro §3.10). Repeated, never answered. */
export interface TimeoutNow {
  readonly kind: "timeoutNow";
  readonly term: Term;
}
