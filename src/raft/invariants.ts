/**
 * The numbered invariants of SPEC.md, for tests and simulation: checked after every step.
 *
 * Basic checks look at one state (R6, R8, R9, R12, R19, R21), delta checks at what a step did (R2,
 * R3, R4, R5, R7, R10, R11, R13, R14, R22, R23). A group's invariants (R1, R15, R16, R17, R18, R20,
 * R24) need the other replicas and the simulated disks: test/sim/raft-checkers.ts.
 */

import { assert } from "../base/assert.ts";
import type { LogIndex } from "../base/brands.ts";
import type { RaftCore } from "./core.ts";
import type { Input } from "./input.ts";
import type { Message } from "./messages.ts";
import type { Output } from "./output.ts";
import { quorumSize } from "./quorum.ts";
import type { RaftStatus } from "./status.ts";
import type { LogPosition, RaftConfig } from "./types.ts";

export interface CheckedStep {
  readonly config: RaftConfig;
  readonly core: RaftCore;
  /** The core's status before the step. */
  readonly before: RaftStatus;
  readonly input: Input;
  readonly output: Output;
}

/** Throws when a step broke an invariant. Gives the status after it. */
export function checkStep(step: CheckedStep): RaftStatus {
  const after = step.core.status();
  checkBasic(step.config, after);
  checkVotes(step, after);
  checkLog(step, after);
  checkCommit(step, after);
  checkTransfer(step, after);
  checkDelivery(step, after);
  checkSnapshots(step, after);
  checkSending(step, after);
  checkAnswers(step, after);
  return after;
}

/** What holds in every state. */
export function checkBasic(config: RaftConfig, status: RaftStatus): void {
  const { commitIndex, deliveredIndex, appliedIndex, lastIndex, persistedIndex } = status;
  assert(commitIndex <= lastIndex, "R8: the commit index is within the log");
  assert(persistedIndex <= lastIndex, "R7: only what is in the log is durable");
  assert(status.persistedTerm <= status.term, "R7: the disk is not ahead of memory");
  assert(status.lastTerm <= status.term, "R4: no entry is of a later term than the replica's");
  assert(appliedIndex <= deliveredIndex, "R9: only what was delivered is applied");
  assert(
    deliveredIndex <= Math.min(commitIndex, persistedIndex),
    "R9: only what is committed and on our disk is delivered",
  );
  if (status.role === "leader" || status.role === "candidate") {
    assert(status.votedFor === status.self, "R6: candidates and leaders voted for themselves");
  }
  if (status.role === "leader") {
    assert(
      status.persistedTerm === status.term && status.persistedVote === status.self,
      "R6: a leader's own vote is on its disk",
    );
  }
  for (const { matchIndex, nextIndex, inflightMessages } of status.progress) {
    assert(matchIndex < nextIndex && nextIndex <= lastIndex + 1, "R12: match < next <= last + 1");
    assert(inflightMessages <= config.inflightMessagesMax, "R12: a window is never overrun");
  }
  const { baseIndex, snapshotIndex } = status;
  assert(baseIndex <= snapshotIndex, "R21: a snapshot stands for what the log lacks");
  assert(snapshotIndex <= commitIndex, "R21: a snapshot holds what is committed");
  assert(
    deliveredIndex >= snapshotIndex || status.isInstalling,
    "R21: the machine is at least where the snapshot stands",
  );
  assert(status.pendingReads <= config.pendingReadsMax, "R19: waiting reads are bounded");
}

function checkVotes({ before, output }: CheckedStep, after: RaftStatus): void {
  assert(after.term >= before.term, "R4: terms never decrease");
  const voteChanged = after.term !== before.term || after.votedFor !== before.votedFor;
  const written = output.persist?.hardState;
  if (voteChanged) {
    assert(
      written?.term === after.term && written.votedFor === after.votedFor,
      "R4: a change of term or vote is persisted by the step that made it",
    );
  }
  if (after.term === before.term && before.votedFor !== undefined) {
    assert(after.votedFor === before.votedFor, "R5: one vote per term");
  }
  if (written !== undefined) {
    assert(written.commitIndex <= after.commitIndex, "R8: no newer commit index is written");
  }
}

function checkLog({ config, core, before, output }: CheckedStep, after: RaftStatus): void {
  const { persist } = output;
  const truncateFrom = persist?.truncateFrom;
  const entries = persist?.entries ?? [];
  if (truncateFrom !== undefined) {
    assert(truncateFrom > before.commitIndex, "R10: nothing committed is truncated");
    const isStillLeader = before.role === "leader" && after.term === before.term;
    assert(!isStillLeader, "R10: a leader truncates nothing in its term");
  }
  const endIndex = truncateFrom === undefined ? before.lastIndex : truncateFrom - 1;
  // A base beyond the end is an installed snapshot's: the log is empty from there on.
  const keptIndex = Math.max(endIndex, persist?.base?.index ?? 0);
  let previous: LogPosition | undefined =
    keptIndex === core.base.index ? core.base : core.entryAt(keptIndex as LogIndex);
  let index = keptIndex;
  for (const entry of entries) {
    index++;
    assert(entry.index === index, "R2: the log has no gaps");
    assert(entry.term >= (previous?.term ?? 0), "R2: terms never decrease along the log");
    assert(entry.timeMs >= (previous?.timeMs ?? 0), "R2: log time never decreases");
    assert(core.entryAt(entry.index) === entry, "R7: what is written is what stands in memory");
    previous = entry;
  }
  assert(after.lastIndex === index, "R7: every change of the log is persisted by its step");
  if (persist !== undefined) {
    assert(
      persist.lastIndex === after.lastIndex && persist.lastTerm === after.lastTerm,
      "R7: a step is tagged with the end of the log",
    );
  }
  if (after.role === "leader" && before.role === "leader" && entries.length > 0) {
    const advancedMs = after.lastTimeMs - before.lastTimeMs;
    assert(advancedMs >= 0, "R3: stamps never go back");
  }
  if (after.role === "leader" && before.role !== "leader") {
    assert(after.lastTimeMs === before.lastTimeMs, "R3: a term starts at its last entry's time");
  }
  assert(
    after.uncommittedBytes <= config.uncommittedBytesMax ||
      after.uncommittedBytes <= before.uncommittedBytes ||
      before.uncommittedBytes === 0 ||
      before.role !== "leader",
    "R19: uncommitted bytes are bounded",
  );
}

function checkCommit({ config, core, before }: CheckedStep, after: RaftStatus): void {
  assert(after.commitIndex >= before.commitIndex, "R8: the commit index never decreases");
  if (after.role !== "leader" || after.commitIndex === before.commitIndex) return;
  const { commitIndex } = after;
  assert(
    core.entryAt(commitIndex)?.term === after.term,
    "R11: a leader commits by counting only entries of its own term",
  );
  let holders = after.persistedIndex >= commitIndex ? 1 : 0;
  for (const { matchIndex } of after.progress) if (matchIndex >= commitIndex) holders++;
  const needed = quorumSize(config.configuration.voters.length);
  assert(holders >= needed, "R11: a quorum holds what a leader commits");
}

/** What a leader may do while it moves its office. */
function checkTransfer({ before, output }: CheckedStep, after: RaftStatus): void {
  if (after.transferTarget !== undefined) {
    assert(output.proposed.length === 0, "R25: who moves its office takes no proposals");
  }
  for (const { to, message } of output.sendNow) {
    if (message.kind !== "timeoutNow") continue;
    const target = after.progress.find(({ peer }) => peer === to);
    assert(after.transferTarget === to, "R25: only the chosen one is told to stand");
    assert(target?.matchIndex === after.lastIndex, "R25: and only with the leader's whole log");
  }
  const isLeader = before.role === "leader" && after.role === "leader";
  assert(
    isLeader || before.transferTarget === undefined || after.transferTarget === undefined,
    "R25: no transfer outlives its leader's role",
  );
}

function checkDelivery({ core, before, output }: CheckedStep, after: RaftStatus): void {
  let index: number = output.install?.index ?? before.deliveredIndex;
  for (const entry of output.committed) {
    index++;
    assert(entry.index === index, "R9: committed entries are delivered once each, in order");
    assert(core.entryAt(entry.index) === entry, "R9: what is delivered is in the log");
  }
  assert(after.deliveredIndex === index, "R9: what counts as delivered was delivered");
  if (after.role !== "leader") return;
  for (const { readIndex } of output.readsReady) {
    assert(after.isLeaderReady, "R14: a leader confirms reads once its term has a commit");
    assert(readIndex <= after.commitIndex, "R14: a read index is committed");
  }
}

/** What a step may do to the snapshot and to the beginning of the log. */
function checkSnapshots({ core, before, input, output }: CheckedStep, after: RaftStatus): void {
  const { persist, install, fetches } = output;
  const { base, snapshot } = persist ?? {};
  assert(after.snapshotIndex >= before.snapshotIndex, "R21: snapshots never go back");
  assert(after.baseIndex >= before.baseIndex, "R23: the beginning of the log never goes back");
  if (after.baseIndex !== before.baseIndex) {
    assert(base?.index === after.baseIndex, "R23: a moved beginning is persisted by its step");
    assert(base.term === core.termAt(base.index), "R23: the beginning is an entry of the log");
  }
  if (after.snapshotIndex !== before.snapshotIndex) {
    assert(snapshot?.index === after.snapshotIndex, "R21: a new snapshot is persisted by its step");
    const written = persist?.hardState?.commitIndex ?? -1;
    assert(written >= snapshot.index, "R21: the disk knows that a snapshot is committed");
    if (input.kind === "snapshotTaken") {
      assert(snapshot.index <= before.appliedIndex, "R21: a checkpoint holds what was applied");
    } else {
      assert(input.kind === "snapshotReceived", "R22: a snapshot is taken or received");
      assert(snapshot.index > before.commitIndex, "R22: installed is only what is news");
      assert(after.isInstalling && before.role !== "leader", "R22: leaders install nothing");
      assert(!before.isInstalling, "R22: snapshots are installed one at a time");
    }
  }
  const isFetchDue = fetches.length === 0 || (!after.isInstalling && after.role === "follower");
  assert(isFetchDue, "R22: only a follower that installs nothing fetches");
  if (install === undefined) return;
  assert(before.isInstalling && !after.isInstalling, "R22: a snapshot is installed once");
  assert(install.index === after.snapshotIndex, "R22: the accepted snapshot is installed");
  assert(install.index > before.deliveredIndex, "R22: the machine never goes back");
  assert(after.persistedIndex >= install.index, "R22: what is installed is on disk");
}

function checkSending({ output }: CheckedStep, after: RaftStatus): void {
  for (const { message } of output.sendNow) {
    assert(
      message.term === after.persistedTerm || message.term === after.term,
      "R7: messages carry the present term",
    );
    assert(message.term <= after.persistedTerm, "R7: no message leaves before its term is on disk");
    assert(message.kind !== "requestVote", "R7: a candidate's requests wait for its own vote");
    switch (message.kind) {
      case "requestVoteReply":
        assert(!message.granted, "R7: a vote leaves after it is on disk");
        break;
      case "appendEntriesReply":
        if (message.result.kind === "accepted") {
          const { matchIndex } = message.result;
          assert(matchIndex <= after.persistedIndex, "R7: acknowledged is what is on disk");
        }
        break;
      case "snapshotOffer":
        assert(after.role === "leader", "R22: leaders offer snapshots");
        assert(message.position.index <= after.snapshotIndex, "R22: offered is what there is");
        break;
      case "timeoutNow":
      case "preVote":
      case "preVoteReply":
      case "appendEntries":
      case "heartbeat":
      case "heartbeatReply":
      case "readIndexRequest":
      case "readIndexReply":
        break;
    }
  }
}

/** What a message may make a replica answer, vote for and commit. */
function checkAnswers({ before, core, input, output }: CheckedStep, after: RaftStatus): void {
  if (input.kind !== "message") return;
  const { from, message } = input;
  const answers = [...output.sendNow, ...output.sendAfterPersist].filter(({ to }) => to === from);
  if (message.kind === "requestVote" && after.votedFor === from && before.votedFor !== from) {
    const isRecent =
      message.lastTerm > before.lastTerm ||
      (message.lastTerm === before.lastTerm && message.lastIndex >= before.lastIndex);
    assert(isRecent, "R5: votes go to logs at least as recent as one's own");
  }
  const verifiedIndex = verifiedBy(message);
  if (verifiedIndex === undefined) return;
  assert(
    after.commitIndex <= Math.max(before.commitIndex, verifiedIndex),
    "R13: a follower commits no further than the message verified",
  );
  for (const { message: answer } of answers) {
    if (answer.kind !== "appendEntriesReply" || answer.result.kind !== "accepted") continue;
    assert(answer.result.matchIndex === verifiedIndex, "R13: acknowledged is what was verified");
    if (message.kind !== "appendEntries") continue;
    const last = message.entries.at(-1);
    const term = last?.term ?? message.prevTerm;
    const isCompacted = verifiedIndex < core.base.index;
    const ours = core.termAt(verifiedIndex as LogIndex);
    assert(isCompacted || ours === term, "R13: what is acknowledged is the leader's");
  }
}

/** Up to where a leader's message says what our log must hold. */
function verifiedBy(message: Message): number | undefined {
  if (message.kind === "appendEntries") return message.prevIndex + message.entries.length;
  if (message.kind === "heartbeat") return message.commitIndex;
  return message.kind === "snapshotOffer" ? message.position.index : undefined;
}
