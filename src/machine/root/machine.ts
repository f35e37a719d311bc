/**
 * The root as a replicated machine: cluster identity, keyspaces and the coarse map, storage nodes.
 *
 * Nothing here expires: leases live in the shards. Work that spans root and shard is a recorded
 * sequence of single-group entries (law 28): a keyspace is recorded "creating" here, its range is
 * made in the shard, and it is marked "ready" here, each step idempotent.
 */

import { assert } from "../../base/assert.ts";
import { type Bytes, EMPTY_BYTES } from "../../base/bytes.ts";
import {
  type GroupId,
  type Incarnation,
  type Revision,
  revisionOf,
  ROOT_GROUP,
} from "../../base/brands.ts";
import { decode, encode } from "../../base/codec.ts";
import type { Result } from "../../base/result.ts";
import { digestOfCut } from "../common/record-cut.ts";
import { RecordRestore } from "../common/record-restore.ts";
import { answerOnce } from "../common/answer-once.ts";
import type {
  AppliedEntry,
  EntryMeta,
  GroupMachine,
  SnapshotCut,
  SnapshotRestore,
} from "../group.ts";
import {
  type CreateKeyspace,
  type InitCluster,
  type MarkKeyspaceReady,
  type RegisterNode,
  type RootAnswer,
  rootAnswerCodec,
  type RootCommand,
  rootCommandCodec,
  type RootEvent,
  type RootRefused,
  type RootRequest,
  rootRequestCodec,
  type RootResult,
} from "./commands.ts";
import { openRootCut, ROOT_FORM, RootBuilder } from "./snapshot.ts";
import { emptyRoot, type RootState } from "./state.ts";
import type { KeyspaceRecord, NodeRecord, ProcessStart } from "./types.ts";

/**
 * The root is small enough for every client to hold (law 27), and the lease terms of all keyspaces
 * fit one answer.
 */
export const KEYSPACES_MAX = 1_000;

export class RootMachine implements GroupMachine<RootRequest, RootAnswer, RootEvent> {
  readonly group: GroupId = ROOT_GROUP;
  #state: RootState;
  #events: RootEvent[] = [];

  constructor(generation = 0) {
    this.#state = emptyRoot(generation);
  }

  /**
   * To be read by views and checkers; only apply() changes it. A restored snapshot puts another
   * object in its place: hold the machine, not its state.
   */
  get state(): RootState {
    return this.#state;
  }

  get revision(): Revision {
    return this.state.revision;
  }

  apply(meta: EntryMeta, request: RootRequest | undefined): AppliedEntry<RootAnswer, RootEvent> {
    const { state } = this;
    const revision = revisionOf(state.generation, meta.index);
    assert(revision === state.revision + 1, "entries are applied one after the other");
    assert(meta.timeMs >= state.timeMs, "log time never goes back (law 7)");
    state.revision = revision;
    state.timeMs = meta.timeMs;
    this.#events = [];
    state.requests.pass(meta.timeMs, revision);
    const answer = request === undefined ? undefined : this.#answer(request);
    return { revision, answer, events: this.#events };
  }

  nextDueMs(): undefined {
    return undefined;
  }

  expireRequest(): undefined {
    return undefined;
  }

  openCut(pieceBytes?: number): SnapshotCut {
    return openRootCut(this.#state, pieceBytes);
  }

  beginRestore(): SnapshotRestore {
    const { generation } = this.#state;
    const builder = new RootBuilder(generation, (state) => {
      this.#state = state;
    });
    return new RecordRestore(ROOT_FORM, { group: ROOT_GROUP, generation }, builder);
  }

  digest(): string {
    return digestOfCut(this.openCut());
  }

  encodeRequest(request: RootRequest): Bytes {
    return encode(rootRequestCodec, request);
  }

  decodeRequest(bytes: Bytes): Result<RootRequest, string> {
    return decode(rootRequestCodec, bytes);
  }

  encodeAnswer(answer: RootAnswer): Bytes {
    return encode(rootAnswerCodec, answer);
  }

  decodeAnswer(bytes: Bytes): Result<RootAnswer, string> {
    return decode(rootAnswerCodec, bytes);
  }

  #answer(request: RootRequest): RootAnswer {
    const { requestId, command } = request;
    return answerOnce(this.state.requests, {
      requestId,
      revision: this.state.revision,
      effect: () => encode(rootCommandCodec, command),
      run: () => this.#run(command),
      refuse: (reason, clientId) => refuse(reason, clientId),
    });
  }

  #run(command: RootCommand): RootResult {
    switch (command.kind) {
      case "initCluster":
        return this.#initCluster(command);
      case "createKeyspace":
        return this.#createKeyspace(command);
      case "markKeyspaceReady":
        return this.#markKeyspaceReady(command);
      case "registerNode":
        return this.#registerNode(command);
    }
  }

  #initCluster({ cluster }: InitCluster): RootResult {
    if (this.state.cluster === undefined) {
      this.state.cluster = cluster;
      this.#events.push({ kind: "clusterInitialised", cluster });
    }
    return { kind: "done" };
  }

  #createKeyspace({ settings, group }: CreateKeyspace): RootResult {
    const { state } = this;
    if (state.cluster === undefined) return refuse("clusterNotInitialised", settings.name);
    if (!state.cluster.shardGroups.includes(group)) return refuse("groupNotFound", String(group));
    if (state.keyspaceIds.has(settings.name)) return refuse("keyspaceExists", settings.name);
    if (state.keyspaces.size >= KEYSPACES_MAX) return refuse("tooManyKeyspaces", settings.name);
    const keyspaceId = ++state.lastKeyspaceId;
    const keyspace: KeyspaceRecord = {
      keyspaceId,
      settings,
      state: "creating",
      spans: [{ startKey: EMPTY_BYTES, endKey: undefined, group }],
      createdRevision: state.revision,
    };
    state.keyspaceIds.set(settings.name, keyspaceId);
    this.#putKeyspace(keyspace);
    return { kind: "keyspaceRecorded", keyspace };
  }

  #markKeyspaceReady({ keyspaceId }: MarkKeyspaceReady): RootResult {
    const keyspace = this.state.keyspaces.get(keyspaceId);
    if (keyspace === undefined) return refuse("keyspaceNotFound", String(keyspaceId));
    if (keyspace.state === "creating") this.#putKeyspace({ ...keyspace, state: "ready" });
    return { kind: "done" };
  }

  #registerNode(command: RegisterNode): RootResult {
    const { kind: _, ...facts } = command;
    const { nodeId, dataUuid } = facts;
    const known = this.state.nodes.get(nodeId);
    if (known !== undefined && known.dataUuid !== dataUuid) return refuse("nodeIdTaken", nodeId);
    const incarnation = this.state.revision as number as Incarnation;
    const predecessor = known?.incarnation ?? (0 as Incarnation);
    const isProven = known !== undefined && provesEnd(known.start, command.start);
    const provenSince = isProven ? known.provenSince : incarnation;
    const node: NodeRecord = { ...facts, incarnation, predecessor, provenSince };
    this.state.nodes.set(nodeId, node);
    this.#events.push({ kind: "nodeRegistered", node });
    return { kind: "nodeRegistered", node };
  }

  #putKeyspace(keyspace: KeyspaceRecord): void {
    this.state.keyspaces.set(keyspace.keyspaceId, keyspace);
    this.#events.push({ kind: "keyspaceChanged", keyspace });
  }
}

/**
 * Whether the process that now starts shows that the one before it is dead (law 13): on the same
 * boot of the same machine it has the kernel's exclusive lock of the same file, and no other
 * process has started on these data in between. The data's uuid is the same anyway.
 */
function provesEnd(before: ProcessStart | undefined, now: ProcessStart | undefined): boolean {
  return (
    before !== undefined &&
    now !== undefined &&
    now.bootId === before.bootId &&
    now.lockFile === before.lockFile &&
    now.startCount === before.startCount + 1
  );
}

function refuse(reason: RootRefused["reason"], subject: string): RootResult {
  return { kind: "refused", reason, subject };
}
