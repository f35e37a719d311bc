/** One replica of three whose peers are the test: it sees all messages and sends what it likes. */

import type {
  GroupId,
  LogIndex,
  LogTimeMs,
  MonotonicMs,
  ReplicaId,
  Term,
} from "../../src/base/brands.ts";
import type { Message } from "../../src/raft/messages.ts";
import type { Transition } from "../../src/raft/output.ts";
import type { Entry } from "../../src/raft/types.ts";
import { serverOf } from "../../src/replica/host.ts";
import type { LoadedReplica } from "../../src/replica/ports.ts";
import { Replica, type ReplicaOptions } from "../../src/replica/replica.ts";
import { Turns } from "../../src/replica/turns.ts";
import { MemoryLogStore } from "../../src/testing/memory-log-store.ts";
import {
  MemorySnapshotNetwork,
  MemorySnapshotStore,
  type SnapshotOperation,
} from "../../src/testing/memory-snapshots.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { add, type CountAnswer, CountingMachine, type CountRequest } from "./counting-machine.ts";
import { Gate } from "./gate.ts";

export const GROUP = 1 as GroupId;
export const SELF = 1 as ReplicaId;
export const PEER = 2 as ReplicaId;
export const OTHER = 3 as ReplicaId;
export const TICK_MS = 10;

export const RAFT: Omit<ReplicaOptions<CountRequest, CountAnswer, string>["raft"], "seed"> = {
  tickMs: TICK_MS,
  heartbeatTicks: 1,
  electionTimeoutTicksMin: 10,
  electionTimeoutTicksMax: 20,
  inflightMessagesMax: 64,
  appendBytesMax: 64 * 1024,
  uncommittedBytesMax: 1024 * 1024,
  logTrailingBytes: 0,
  logHeldBytesMax: 1_000_000,
  pendingReadsMax: 100,
};

export const QUIET = { debug: ignore, info: ignore, warn: ignore, error: ignore };
function ignore(): void {}

export class LoneReplica {
  readonly clock: VirtualClock;
  readonly machine = new CountingMachine(GROUP);
  readonly sent: { readonly to: ReplicaId; readonly message: Message }[] = [];
  readonly transitions: Transition[] = [];
  readonly halts: string[] = [];
  readonly store: MemoryLogStore;
  readonly snapshotStore: MemorySnapshotStore;
  readonly gate: Gate;
  /** What the peers have to give. */
  readonly peerSnapshots = new MemorySnapshotStore();
  /** What is to run after the sockets were read waits for {@link nextSlice}. */
  holdsSlices = false;
  #slices: (() => void)[] = [];
  /** How often the machine's state was replaced. */
  replacements = 0;
  readonly replica: Replica<CountRequest, CountAnswer, string>;

  constructor(
    options: {
      readonly seed?: number;
      readonly after?: LoneReplica;
      readonly onApplied?: () => void;
      readonly checkpointBytesMin?: number;
      /** Operations of this kind wait for {@link gate}. */
      readonly holds?: SnapshotOperation;
    } = {},
  ) {
    const { seed = 1, after, onApplied = ignore, checkpointBytesMin = 1e9 } = options;
    this.clock = after?.clock ?? new VirtualClock();
    const { store, loaded } = openStore(after?.store);
    this.store = store;
    after?.snapshotStore.crash();
    this.snapshotStore = after?.snapshotStore.reopen() ?? new MemorySnapshotStore();
    this.gate = new Gate(this.snapshotStore, options.holds);
    const network = new MemorySnapshotNetwork({ timers: this.clock, reaches: () => true });
    for (const peer of [PEER, OTHER]) network.join(serverOf(peer), this.peerSnapshots);
    this.replica = new Replica({
      loaded,
      raft: { ...RAFT, seed },
      machine: this.machine,
      store,
      snapshots: {
        store: this.snapshotStore,
        source: network.join(serverOf(SELF), this.snapshotStore),
        turns: new Turns(),
        checkpointBytesMin,
        serverOf,
      },
      clock: this.clock,
      timers: {
        after: (delayMs, run) => this.clock.after(delayMs, run),
        soon: (run) => this.clock.soon(run),
        afterReading: (run) => {
          if (this.holdsSlices) this.#slices.push(run);
          else this.clock.afterReading(run);
        },
      },
      logger: QUIET,
      send: (to, message) => void this.sent.push({ to, message }),
      onApplied,
      onReplaced: () => void this.replacements++,
      onTransition: (transition) => void this.transitions.push(transition),
      onHalt: (reason) => void this.halts.push(reason),
    });
  }

  get term(): Term {
    return this.replica.core.term;
  }

  deadline(inMs: number): MonotonicMs {
    return (this.clock.nowMs() + inMs) as MonotonicMs;
  }

  /** Lets time pass with its ticks; nothing becomes durable by itself. */
  async ticks(count: number): Promise<void> {
    for (let tick = 0; tick < count; tick++) {
      await this.clock.advance(TICK_MS);
      this.replica.tick();
      await this.clock.settle();
    }
  }

  async receive(from: ReplicaId, ...messages: readonly Message[]): Promise<void> {
    for (const message of messages) this.replica.receive(from, message);
    await this.clock.settle();
  }

  /** Runs what has waited until the sockets were read; what that leads to waits anew. */
  async nextSlice(): Promise<void> {
    for (const run of this.#slices.splice(0)) run();
    await this.clock.settle();
  }

  /** Everything that waits for the disk or for nothing happens. */
  async flush(): Promise<void> {
    do await this.clock.settle();
    while (this.store.completeNext());
  }

  /** Messages of a kind since the last time that they were taken. */
  take<K extends Message["kind"]>(kind: K): Extract<Message, { readonly kind: K }>[] {
    const taken: Extract<Message, { readonly kind: K }>[] = [];
    for (const { message } of this.sent.splice(0)) {
      if (isKind(message, kind)) taken.push(message);
    }
    return taken;
  }

  /** Wins an election with PEER's votes and has the noop committed. */
  async lead(): Promise<void> {
    await this.campaign();
    await this.acknowledge();
  }

  /** Wins an election; its noop is not committed yet. */
  async campaign(): Promise<void> {
    while (this.replica.core.role === "follower") await this.ticks(1);
    const [preVote] = this.take("preVote");
    if (preVote === undefined) throw new Error("a pre-vote was asked for");
    const { nextTerm } = preVote;
    await this.receive(PEER, { kind: "preVoteReply", term: this.term, nextTerm, granted: true });
    await this.flush();
    await this.receive(PEER, { kind: "requestVoteReply", term: this.term, granted: true });
    await this.flush();
    if (this.replica.core.role !== "leader") throw new Error("it won");
  }

  /** PEER has everything that the leader has. */
  async acknowledge(): Promise<void> {
    await this.flush();
    const { term } = this;
    const matchIndex = this.replica.core.lastIndex;
    await this.receive(PEER, {
      kind: "appendEntriesReply",
      term,
      result: { kind: "accepted", matchIndex },
    });
    await this.flush();
  }

  /** PEER leads a later term, and this replica's log ends at `prev` with these entries after it. */
  async follow(
    entries: readonly Entry[],
    place: { readonly term: number; readonly prev: [number, number]; readonly commit: number },
  ): Promise<void> {
    await this.receive(PEER, {
      kind: "appendEntries",
      term: place.term as Term,
      prevIndex: place.prev[0] as LogIndex,
      prevTerm: place.prev[1] as Term,
      commitIndex: place.commit as LogIndex,
      entries,
    });
    await this.flush();
  }
}

function isKind<K extends Message["kind"]>(
  message: Message,
  kind: K,
): message is Extract<Message, { readonly kind: K }> {
  return message.kind === kind;
}

function openStore(former: MemoryLogStore | undefined): {
  readonly store: MemoryLogStore;
  readonly loaded: LoadedReplica;
} {
  const configuration = { voters: [SELF, PEER, OTHER] };
  const replica = { group: GROUP, replicaId: SELF, configuration };
  if (former === undefined) {
    const store = new MemoryLogStore({ replicas: [replica] });
    return { store, loaded: firstOf(store.loaded()) };
  }
  former.crash();
  const { store, replicas } = former.reopen();
  return { store, loaded: firstOf(replicas) };
}

function firstOf(replicas: readonly LoadedReplica[]): LoadedReplica {
  const [loaded] = replicas;
  if (loaded === undefined) throw new Error("the store holds the replica");
  return loaded;
}

export function entry(index: number, term: number, payload?: Uint8Array): Entry {
  return {
    index: index as LogIndex,
    term: term as Term,
    kind: payload === undefined ? "noop" : "command",
    timeMs: 0 as LogTimeMs,
    payload: payload ?? new Uint8Array(0),
  };
}

export function addBytes(amount: number): Uint8Array {
  return new CountingMachine(GROUP).encodeRequest(add(amount));
}

/** What a promise has come to by now. */
export function watchOutcome<T>(promise: Promise<T>): { readonly value: T | undefined } {
  const seen: { value: T | undefined } = { value: undefined };
  void promise.then((value) => {
    seen.value = value;
  });
  return seen;
}
