/**
 * Reading a log store back: every record is checked, nothing is repaired, and the first
 * contradiction is a StorageError (law 29; LevelDB itself neither verifies its blocks on reading
 * nor reports all that it drops when it opens).
 *
 * Checked: the checksum and place of every record; per group, entries from its base to its last
 * without a gap, their chain, non-decreasing terms, log times and write sequences, an end and a
 * snapshot as the hard state says; over all groups, the store head. Keys at or below a log's base
 * are not looked into: they are remains, whose deletion was not finished or was undone by a crash.
 * Keys above its last are damage.
 */

import type { GroupId, LogIndex, ServerId } from "../base/brands.ts";
import type { Bytes } from "../base/bytes.ts";
import type { Result } from "../base/result.ts";
import { type Entry, LOG_START, type LogPosition } from "../raft/types.ts";
import type { Flaw } from "./binary.ts";
import { chainAfter, decodeEntry } from "./entry-record.ts";
import { damaged, type DamagePlace, StorageError } from "./errors.ts";
import { GroupLog } from "./group-log.ts";
import { ENTRY_KEY_BYTES, parseKey } from "./keys.ts";
import type { KeyValueStore } from "./level-db.ts";
import {
  type AdmissionRecord,
  type ConfigurationRecord,
  decodeAdmission,
  decodeConfiguration,
  decodeHardState,
  decodeIdentity,
  decodePeer,
  decodeSnapshotPointer,
  decodeStoreHead,
  type HardStateRecord,
  type PeerRecord,
  type StoreHead,
  type StoreIdentity,
} from "./records.ts";
import type { DeadEntries } from "./trimmer.ts";

export interface RecoveredGroup {
  readonly configuration: ConfigurationRecord;
  readonly bounds: HardStateRecord;
  /** From bounds.base.index + 1 to bounds.lastIndex. */
  readonly entries: Entry[];
  readonly log: GroupLog;
  /** Undefined when there are none. */
  remains: DeadEntries | undefined;
}

export interface RecoveredStore {
  readonly identity: StoreIdentity;
  /** Whether every other server has remembered this store. */
  readonly isAdmitted: boolean;
  /** The stores that peers are known by. */
  readonly peers: ReadonlyMap<ServerId, string>;
  readonly head: StoreHead;
  /** Ascending by group. */
  readonly groups: readonly RecoveredGroup[];
}

export interface ExpectedIdentity {
  readonly clusterId: string;
  readonly serverId: ServerId;
}

/** Reads and verifies a whole store. Without `expect` the identity may be anyone's. */
export async function recoverStore(
  db: KeyValueStore,
  dir: string,
  expect?: ExpectedIdentity,
): Promise<RecoveredStore> {
  const recovery = new Recovery(dir, expect);
  for await (const portion of db.scan()) {
    for (const { key, value } of portion) recovery.accept(key, value);
  }
  return recovery.finish();
}

/** Takes all records of a store in key order, then answers what they say. Throws StorageError. */
export class Recovery {
  readonly #dir: string;
  readonly #expect: ExpectedIdentity | undefined;
  readonly #configurations = new Map<GroupId, ConfigurationRecord>();
  readonly #groups = new Map<GroupId, RecoveredGroup>();
  readonly #pointers = new Map<GroupId, LogPosition>();
  readonly #peers = new Map<ServerId, PeerRecord>();
  #admission: AdmissionRecord | undefined;
  /** Write sequence of the entry before; 0 at the start of each group. */
  #entrySequence = 0;
  #identity: StoreIdentity | undefined;
  #head: StoreHead | undefined;

  constructor(dir: string, expect?: ExpectedIdentity) {
    this.#dir = dir;
    this.#expect = expect;
  }

  accept(keyBytes: Bytes, value: Bytes): void {
    const key = parseKey(keyBytes);
    if (key === undefined) throw this.#damaged("a key that this store never writes");
    switch (key.kind) {
      case "configuration":
        return this.#acceptConfiguration(key.group, value);
      case "hardState":
        return this.#acceptHardState(key.group, value);
      case "snapshotPointer":
        return this.#acceptSnapshotPointer(key.group, value);
      case "peer":
        return this.#acceptPeer(key.server, value);
      case "admission":
        this.#admission = this.#unwrap(decodeAdmission(value), NOWHERE);
        return;
      case "identity":
        return this.#acceptIdentity(value);
      case "entry":
        return this.#acceptEntry(key.group, key.index, value);
      case "storeHead":
        this.#head = this.#unwrap(decodeStoreHead(value), NOWHERE);
        return;
    }
  }

  finish(): RecoveredStore {
    const identity = this.#identity;
    const head = this.#head;
    if (identity === undefined) throw this.#damaged("no identity record");
    if (head === undefined) throw this.#damaged("no store head record");
    for (const group of this.#configurations.keys()) {
      if (!this.#groups.has(group)) throw this.#damaged("no hard state", at(group));
    }
    const groups = [...this.#groups.values()];
    for (const group of groups) {
      this.#checkEnd(group);
      this.#checkSnapshot(group);
    }
    this.#checkHead(head, groups);
    const peers = new Map([...this.#peers].map(([server, { storeUuid }]) => [server, storeUuid]));
    return { identity, isAdmitted: this.#admission !== undefined, peers, head, groups };
  }

  #acceptConfiguration(group: GroupId, value: Bytes): void {
    const record = this.#unwrap(decodeConfiguration(value), at(group));
    if (record.group !== group) throw this.#damaged(misplaced(record.group), at(group));
    this.#configurations.set(group, record);
  }

  #acceptHardState(group: GroupId, value: Bytes): void {
    const bounds = this.#unwrap(decodeHardState(value), at(group));
    if (bounds.group !== group) throw this.#damaged(misplaced(bounds.group), at(group));
    const configuration = this.#configurations.get(group);
    if (configuration === undefined) throw this.#damaged("no configuration", at(group));
    const log = new GroupLog(bounds);
    this.#groups.set(group, { configuration, bounds, entries: [], log, remains: undefined });
  }

  #acceptSnapshotPointer(group: GroupId, value: Bytes): void {
    const pointer = this.#unwrap(decodeSnapshotPointer(value), at(group));
    if (pointer.group !== group) throw this.#damaged(misplaced(pointer.group), at(group));
    if (!this.#groups.has(group)) throw this.#damaged("a snapshot of an unknown group", at(group));
    this.#pointers.set(group, pointer.position);
  }

  #acceptPeer(server: ServerId, value: Bytes): void {
    const record = this.#unwrap(decodePeer(value), NOWHERE);
    if (record.server !== server) {
      throw this.#damaged(`the record of server ${record.server} in the place of ${server}`);
    }
    this.#peers.set(server, record);
  }

  #acceptIdentity(value: Bytes): void {
    const identity = this.#unwrap(decodeIdentity(value), NOWHERE);
    this.#identity = identity;
    if (this.#expect === undefined) return;
    const { clusterId, serverId } = this.#expect;
    if (identity.clusterId !== clusterId) {
      const what = `${this.#dir} belongs to cluster ${identity.clusterId}, not to ${clusterId}`;
      throw new StorageError("clusterMismatch", { dir: this.#dir, what });
    }
    if (identity.serverId !== serverId) {
      const what = `${this.#dir} belongs to server ${identity.serverId}, not to ${serverId}`;
      throw new StorageError("serverMismatch", { dir: this.#dir, what });
    }
  }

  #acceptEntry(groupId: GroupId, index: LogIndex, value: Bytes): void {
    const group = this.#groups.get(groupId);
    if (group === undefined) throw this.#damaged("an entry of an unknown group", at(groupId));
    const { bounds, log } = group;
    if (index <= bounds.base.index) {
      noteRemains(group, index, ENTRY_KEY_BYTES + value.length);
      return;
    }
    const place = at(groupId, index);
    if (index > bounds.lastIndex) {
      throw this.#damaged(`an entry behind the log's last index ${bounds.lastIndex}`, place);
    }
    const next = (log.lastIndex + 1) as LogIndex;
    if (index !== next) throw this.#damaged("no entry here", at(groupId, next));
    const record = this.#unwrap(decodeEntry(value), place);
    const { entry } = record;
    if (record.group !== groupId || entry.index !== index) {
      throw this.#damaged(misplaced(record.group, entry.index), place);
    }
    const prev = log.lastIndex;
    if (record.chain !== chainAfter(log.chainAt(prev), record.bodyChecksum)) {
      throw this.#damaged("an entry that does not follow the one before it", place);
    }
    if (entry.term < log.termAt(prev)) throw this.#damaged("a term that falls", place);
    if (entry.timeMs < log.timeAt(prev)) throw this.#damaged("a log time that falls", place);
    if (index === bounds.base.index + 1) this.#entrySequence = 0;
    if (record.writeSequence < this.#entrySequence) {
      throw this.#damaged("an entry written before the one in front of it", place);
    }
    if (record.writeSequence > bounds.writeSequence) {
      throw this.#damaged("an entry newer than the hard state", place);
    }
    this.#entrySequence = record.writeSequence;
    group.entries.push(entry);
    log.append(entry, record.chain, ENTRY_KEY_BYTES + value.length);
  }

  #checkEnd(group: RecoveredGroup): void {
    const { bounds, log } = group;
    if (log.lastIndex !== bounds.lastIndex) {
      throw this.#damaged("no entry here", at(bounds.group, (log.lastIndex + 1) as LogIndex));
    }
    const isEndAsWritten =
      log.termAt(log.lastIndex) === bounds.lastTerm &&
      log.chainAt(log.lastIndex) === bounds.lastChain;
    if (!isEndAsWritten) {
      throw this.#damaged("another last entry than the hard state names", at(bounds.group));
    }
  }

  #checkSnapshot({ bounds, log }: RecoveredGroup): void {
    const place = at(bounds.group);
    const position = this.#pointers.get(bounds.group) ?? LOG_START;
    if (position.index !== bounds.snapshotIndex) {
      const { snapshotIndex } = bounds;
      const found = `a snapshot pointer to ${position.index} where ${snapshotIndex} was written`;
      throw this.#damaged(found, place);
    }
    const isAsLogged =
      log.termAt(position.index) === position.term &&
      log.timeAt(position.index) === position.timeMs;
    if (!isAsLogged) throw this.#damaged("a snapshot pointer that contradicts the log", place);
    log.snapshot = position;
  }

  #checkHead(head: StoreHead, groups: readonly RecoveredGroup[]): void {
    if (groups.length !== head.groupCount) {
      throw this.#damaged(`${groups.length} groups where ${head.groupCount} were written`);
    }
    const records: AdmissionRecord[] = [
      ...groups.map(({ bounds }) => bounds),
      ...this.#peers.values(),
    ];
    if (this.#admission !== undefined) records.push(this.#admission);
    let sum = 0;
    let last = 0;
    for (const { writeSequence } of records) {
      sum += writeSequence;
      last = Math.max(last, writeSequence);
    }
    if (sum !== head.sequenceSum || last !== head.writeSequence) {
      throw this.#damaged("a record that is missing, or not the last one written");
    }
  }

  #unwrap<T>(decoded: Result<T, Flaw>, place: DamagePlace): T {
    if (decoded.ok) return decoded.value;
    const { kind, found } = decoded.error;
    if (kind === "damaged") throw this.#damaged(found, place);
    const what = `the log store in ${this.#dir} has an unknown format (${found})`;
    throw new StorageError("formatUnknown", { dir: this.#dir, what, place });
  }

  #damaged(found: string, place: DamagePlace = NOWHERE): StorageError {
    return damaged(this.#dir, found, place);
  }
}

/** Keys come in order, so the first that is noted is the lowest. */
function noteRemains(group: RecoveredGroup, index: LogIndex, storedBytes: number): void {
  const { remains } = group;
  group.remains = {
    group: group.bounds.group,
    firstIndex: remains?.firstIndex ?? index,
    lastIndex: index,
    storedBytes: (remains?.storedBytes ?? 0) + storedBytes,
  };
}

const NOWHERE: DamagePlace = { group: undefined, index: undefined };

function at(group: GroupId, index?: LogIndex): DamagePlace {
  return { group, index };
}

function misplaced(group: GroupId, index?: LogIndex): string {
  const where = index === undefined ? "" : `, index ${index}`;
  return `the record of group ${group}${where} in this place`;
}
