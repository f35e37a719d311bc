/**
 * The metadata shard as a replicated machine: applies entries, answers, tells what changed.
 *
 * Order within an entry: what is due ends (law 9), and request ids that are too old are forgotten;
 * a known one is answered from memory (law 5); the command takes effect or is refused; the answer
 * is remembered. A new leader's noop does the first two and gives grace (law 11).
 */

import { assert } from "../../base/assert.ts";
import type { Bytes } from "../../base/bytes.ts";
import { type GroupId, type LogTimeMs, type Revision, revisionOf } from "../../base/brands.ts";
import { decode, encode } from "../../base/codec.ts";
import type { Result } from "../../base/result.ts";
import { answerOnce } from "../common/answer-once.ts";
import { digestOfCut } from "../common/record-cut.ts";
import { RecordRestore } from "../common/record-restore.ts";
import type {
  AppliedEntry,
  EntryMeta,
  GroupMachine,
  SnapshotCut,
  SnapshotRestore,
} from "../group.ts";
import { refused, type ShardAnswer, shardAnswerCodec, type ShardResult } from "./answers.ts";
import {
  type ShardCommand,
  shardCommandCodec,
  type ShardRequest,
  shardRequestCodec,
} from "./commands.ts";
import { openShardCut } from "./cut.ts";
import { endDue, nextDueMs } from "./due.ts";
import type { ShardEvent } from "./events.ts";
import { graceAfter } from "./grace.ts";
import { acceptRanges, grantRanges, releaseRanges, withdrawSuccessor } from "./grants.ts";
import {
  abortImport,
  commitImport,
  createKeyspace,
  defineRanges,
  stageImport,
} from "./keyspaces.ts";
import { openSession } from "./restarts.ts";
import { ShardBuilder } from "./restore.ts";
import { renewSessions } from "./sessions.ts";
import { EntryScope, ShardState } from "./state.ts";
import { SHARD_FORM } from "./stored.ts";

export class ShardMachine implements GroupMachine<ShardRequest, ShardAnswer, ShardEvent> {
  #state: ShardState;

  constructor(group: GroupId, generation = 0) {
    this.#state = new ShardState(group, generation);
  }

  /**
   * To be read by views and checkers; only apply() changes it. A restored snapshot puts another
   * object in its place: hold the machine, not its state.
   */
  get state(): ShardState {
    return this.#state;
  }

  get group(): GroupId {
    return this.state.group;
  }

  get revision(): Revision {
    return this.state.revision;
  }

  apply(meta: EntryMeta, request: ShardRequest | undefined): AppliedEntry<ShardAnswer, ShardEvent> {
    const { state } = this;
    const revision = revisionOf(state.generation, meta.index);
    assert(revision === state.revision + 1, "entries are applied one after the other");
    assert(meta.timeMs >= state.timeMs, "log time never goes back (law 7)");
    state.revision = revision;
    state.timeMs = meta.timeMs;
    const scope = new EntryScope(revision, meta.timeMs);
    endDue(state, scope);
    state.requests.pass(meta.timeMs, revision);
    if (request === undefined) state.grace = graceAfter(state.grace, meta.timeMs);
    const answer = request === undefined ? undefined : this.#answer(scope, request);
    return { revision, answer, events: scope.events };
  }

  nextDueMs(): LogTimeMs | undefined {
    return nextDueMs(this.state) as LogTimeMs | undefined;
  }

  expireRequest(): ShardRequest {
    return { requestId: undefined, command: { kind: "expire" } };
  }

  openCut(pieceBytes?: number): SnapshotCut {
    return openShardCut(this.#state, pieceBytes);
  }

  beginRestore(): SnapshotRestore {
    const { group, generation } = this.#state;
    const builder = new ShardBuilder(new ShardState(group, generation), (state) => {
      this.#state = state;
    });
    return new RecordRestore(SHARD_FORM, { group, generation }, builder);
  }

  digest(): string {
    return digestOfCut(this.openCut());
  }

  encodeRequest(request: ShardRequest): Bytes {
    return encode(shardRequestCodec, request);
  }

  decodeRequest(bytes: Bytes): Result<ShardRequest, string> {
    return decode(shardRequestCodec, bytes);
  }

  encodeAnswer(answer: ShardAnswer): Bytes {
    return encode(shardAnswerCodec, answer);
  }

  decodeAnswer(bytes: Bytes): Result<ShardAnswer, string> {
    return decode(shardAnswerCodec, bytes);
  }

  #answer(scope: EntryScope, request: ShardRequest): ShardAnswer {
    const { requestId, command } = request;
    return answerOnce(this.state.requests, {
      requestId,
      revision: scope.revision,
      effect: () => encode(shardCommandCodec, command),
      run: () => run(this.state, scope, command),
      refuse: (reason, clientId) => refused(reason, clientId),
    });
  }
}

function run(state: ShardState, scope: EntryScope, command: ShardCommand): ShardResult {
  switch (command.kind) {
    case "createKeyspace":
      return createKeyspace(state, scope, command);
    case "defineRanges":
      return defineRanges(state, scope, command);
    case "openSession":
      return openSession(state, scope, command);
    case "renew":
      return renewSessions(state, scope, command);
    case "accept":
      return acceptRanges(state, scope, command);
    case "release":
      return releaseRanges(state, scope, command);
    case "grant":
      return grantRanges(state, scope, command);
    case "withdrawSuccessor":
      return withdrawSuccessor(state, scope, command);
    case "expire":
      return { kind: "done" };
    case "stageImport":
      return stageImport(state, scope, command);
    case "commitImport":
      return commitImport(state, scope, command);
    case "abortImport":
      return abortImport(state, command);
  }
}
