/**
 * The committed entries of one group, run a second time in a machine of the simulation's own
 * (properties 11 and 21): each replica must give the same answer and the same events at each index,
 * whenever it gets there, before or after a restart, and hold the same state.
 *
 * The shard's oracle also keeps every version of every range, and checks the map and the leases at
 * every entry (properties 13, 15, 17, 18, and the machine's own invariants).
 */

import type { Epoch } from "../../src/base/brands.ts";
import type { AppliedEntry, EntryMeta, GroupMachine } from "../../src/machine/group.ts";
import type { ShardAnswer } from "../../src/machine/shard/answers.ts";
import type { ShardRequest } from "../../src/machine/shard/commands.ts";
import type { ShardEvent } from "../../src/machine/shard/events.ts";
import { checkShard, checkShardDelta, pictureOfShard } from "../../src/machine/shard/invariants.ts";
import { ShardMachine } from "../../src/machine/shard/machine.ts";
import type { Owner } from "../../src/machine/shard/types.ts";
import type { Entry } from "../../src/raft/types.ts";
import { factsOf } from "../machine/shard/harness.ts";
import { checkReleased } from "./checkers/p16-one-owner.ts";
import { EpochsChecker } from "./checkers/p17-epochs.ts";
import { SessionsChecker } from "./checkers/p18-sessions.ts";
import { checkTiling } from "./checkers/p15-tiling.ts";
import type { Covered } from "./coverage.ts";
import { hashOf } from "./hash.ts";
import { BrokenProperty, must } from "./must.ts";
import { type RangeChangeSeen, RangeVersions } from "./range-versions.ts";
import { SHARD } from "./virtual-cluster.ts";

/** States are compared at every so many entries, answers and events at each. */
const DIGEST_EVERY = 64;

export interface OracleOptions<Request, Answer, Event> {
  /** A fresh one. */
  readonly machine: GroupMachine<Request, Answer, Event>;
  readonly onApplied?: (
    entry: Entry,
    request: Request | undefined,
    applied: AppliedEntry<Answer, Event>,
  ) => void;
  /** Runs the entry; stands around it in the shard's oracle. */
  readonly around?: (run: () => void, request: Request | undefined) => void;
}

export class Oracle<Request, Answer, Event> {
  readonly #options: OracleOptions<Request, Answer, Event>;
  /** What entry i did, at i - 1. */
  readonly #hashes: number[] = [];
  /** The state after some entries. */
  readonly #digests = new Map<number, string>();

  constructor(options: OracleOptions<Request, Answer, Event>) {
    this.#options = options;
  }

  get index(): number {
    return this.#hashes.length;
  }

  get machine(): GroupMachine<Request, Answer, Event> {
    return this.#options.machine;
  }

  /** The next committed entry. */
  onCommitted(entry: Entry): void {
    const { machine, onApplied, around } = this.#options;
    const { index, term, timeMs } = entry;
    let request: Request | undefined;
    if (entry.kind === "command") {
      const decoded = machine.decodeRequest(entry.payload);
      must(decoded.ok, 21, `the command at ${index} cannot be read`);
      request = decoded.value;
    }
    const run = (): void => {
      const applied = machine.apply({ index, term, timeMs }, request);
      this.#hashes.push(this.#hash(applied));
      if (index % DIGEST_EVERY === 0) this.#digests.set(index, machine.digest());
      onApplied?.(entry, request, applied);
    };
    if (around === undefined) run();
    else around(run, request);
  }

  /** A replica has applied an entry. */
  check(
    who: string,
    machine: GroupMachine<Request, Answer, Event>,
    { index }: EntryMeta,
    applied: AppliedEntry<Answer, Event>,
  ): void {
    const expected = this.#hashes[index - 1];
    must(expected !== undefined, 5, `${who} applies ${index}, which is not committed`);
    const isSame = expected === this.#hash(applied);
    must(isSame, 11, `${who} answers otherwise at ${index} than a fresh machine does`);
    if (index % DIGEST_EVERY === 0) this.checkState(who, index, machine.digest());
  }

  /** A replica is in this state after an entry; whatever was there first is what others must be. */
  checkState(who: string, index: number, digest: string): void {
    if (index === this.index) this.#digests.set(index, this.machine.digest());
    const expected = this.#digests.get(index) ?? digest;
    must(expected === digest, 11, `${who} is in another state at ${index}`);
    this.#digests.set(index, digest);
  }

  #hash({ answer, events, revision }: AppliedEntry<Answer, Event>): number {
    const { machine } = this.#options;
    const bytes = answer === undefined ? undefined : machine.encodeAnswer(answer);
    return hashOf([revision, bytes, events]);
  }
}

/** The processes that have registered as an incarnation. */
export interface OwnersView {
  isAlive(owner: Owner): boolean;
  /** Whether a guard of it admits keys of the range, or lets end what it has admitted. */
  serves(owner: Owner, rangeId: string, epoch: Epoch): boolean;
}

export class ShardOracle extends Oracle<ShardRequest, ShardAnswer, ShardEvent> {
  readonly shard: ShardMachine;
  readonly versions: RangeVersions = new RangeVersions();
  /** By name. */
  readonly keyspaceIds: Map<string, number> = new Map();

  constructor(count: (what: Covered) => void, owners: OwnersView) {
    const machine = new ShardMachine(SHARD);
    const epochs = new EpochsChecker();
    const sessions = new SessionsChecker((owner) => owners.isAlive(owner));
    /** Request ids whose effect was run. */
    const ran = new Set<string>();
    let events: readonly ShardEvent[] = [];
    super({
      machine,
      around: (run, request) => {
        const before = pictureOfShard(machine.state);
        events = [];
        run();
        try {
          checkShard(machine.state);
          const facts = factsOf(request?.command ?? { kind: "expire" });
          const isNoop = request === undefined;
          checkShardDelta(before, machine.state, events, { ...facts, isNoop });
        } catch (error) {
          throw new BrokenProperty(18, error instanceof Error ? error.message : String(error));
        }
      },
      onApplied: (entry, request, applied) => {
        const { answer, revision } = applied;
        events = applied.events;
        const command = request?.command;
        if (command?.kind === "createKeyspace") {
          this.keyspaceIds.set(command.terms.name, command.terms.keyspaceId);
        }
        const seen = this.versions.add(revision, applied.events);
        if (seen !== undefined) {
          checkTiling(seen, (keyspaceId) => this.versions.mapAt(keyspaceId, revision));
          epochs.onRevision(seen);
          checkReleased(seen, (owner, rangeId, epoch) => owners.serves(owner, rangeId, epoch));
          for (const change of seen.changes) countChange(change, count);
        }
        sessions.onApplied({ timeMs: entry.timeMs, command, answer, seen });
        checkOnce(ran, request, answer);
        if (answer?.replayed === true) count("requestsReplayed");
      },
    });
    this.shard = machine;
  }

  get revision(): number {
    return this.machine.revision;
  }
}

/** Property 13: the effect of one request id is run once. */
function checkOnce(
  ran: Set<string>,
  request: ShardRequest | undefined,
  answer: ShardAnswer | undefined,
): void {
  const id = request?.requestId;
  if (id === undefined || answer === undefined || answer.replayed) return;
  if (answer.result.kind === "refused") return;
  const name = `${id.clientId}/${id.sequence}`;
  must(!ran.has(name), 13, `request ${name} is run twice`);
  ran.add(name);
}

function countChange(
  { cause, before, after }: RangeChangeSeen,
  count: (what: Covered) => void,
): void {
  switch (cause) {
    case "granted":
      count("grants");
      if (before?.intendedNodeId !== undefined) count("intendedGrants");
      if (before?.successor !== undefined && after?.successor === undefined) {
        count("successorGrants");
      }
      return;
    case "expired":
      return count("expiries");
    case "released":
      return count("releases");
    case "restarted":
      return count("provenRestarts");
    case "successorSet":
      return count("successorsRecorded");
    case "successorLifted":
      return count("successorsWithdrawn");
    case "imported":
    case "keyspaceCreated":
    case "rangesDefined":
    case "accepted":
      return;
  }
}
