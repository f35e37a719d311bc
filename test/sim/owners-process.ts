// One process of a storage node: a real client and a real seat on a clock of their own, and what
// its guard says. The node's memory of epochs outlives the process; writing it takes time.
import type { Epoch } from "../../src/base/brands.ts";
import { type Bytes, bytesToHex, utf8ToBytes } from "../../src/base/bytes.ts";
import { Prng } from "../../src/base/prng.ts";
import { Client } from "../../src/client/client.ts";
import { CoordinationError } from "../../src/client/errors.ts";
import type { EpochMap } from "../../src/fence/epoch-map.ts";
import type { EpochMemory, RememberedEpoch } from "../../src/fence/epochs.ts";
import { type Seat, takeSeat } from "../../src/fence/seat.ts";
import type { SeatEvent } from "../../src/fence/seat-events.ts";
import type { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { ProcessClock } from "./owners-clock.ts";
import type { OwnersNetwork, Party } from "./owners-network.ts";
import type { Covered, OwnersTrace } from "./owners-trace.ts";

/** One key of a range that is looked at. */
export interface SampleKey {
  readonly keyspace: string;
  readonly key: Bytes;
  readonly name: string;
}

/** What a guard admits now. */
export interface Admitted {
  readonly sample: SampleKey;
  readonly rangeId: string;
  readonly epoch: Epoch;
  /** True time until the process stops by itself. */
  readonly remainingMs: number;
}

export interface ProcessWorld {
  readonly clock: VirtualClock;
  readonly network: OwnersNetwork;
  readonly trace: OwnersTrace;
  readonly seed: number;
  /** By keyspace and start key of its range. */
  readonly samples: ReadonlyMap<string, SampleKey>;
  readonly onEvent: (process: OwnerProcess, event: SeatEvent) => void;
  readonly onBug: (error: unknown) => void;
}

export interface ProcessTime {
  readonly rate: number;
  readonly offsetMs: number;
  readonly epochWriteMs: number;
}

export class OwnerProcess implements Party {
  readonly nodeId: string;
  readonly name: string;
  /** Of its node's processes, from 1. */
  readonly count: number;
  readonly clock: ProcessClock;
  readonly client: Client;
  seat: Seat | undefined;
  isDead = false;
  hasSession = false;
  /** Its seat is giving everything up, for good. */
  isClosing = false;
  /** When the guard was last seen not to admit a key under the epoch that it admits now. */
  readonly brokenAtMs: Map<string, { epoch: Epoch; atMs: number }> = new Map();
  readonly #world: ProcessWorld;
  readonly #epochs: EpochMemory;
  readonly #prng: Prng;

  constructor(
    world: ProcessWorld,
    node: { readonly nodeId: string; readonly count: number; readonly memory: EpochMap },
    time: ProcessTime,
  ) {
    this.#world = world;
    this.nodeId = node.nodeId;
    this.count = node.count;
    this.name = `${node.nodeId}#${node.count}`;
    this.clock = new ProcessClock(world.clock, time.rate, time.offsetMs);
    this.#prng = Prng.fromSeed(world.seed * 1_000 + Number(node.nodeId.slice(1)) * 50 + node.count);
    this.client = new Client({
      endpoints: world.network.endpoints,
      channels: world.network.channels(this),
      clock: this.clock,
      timers: this.clock,
      prng: this.#prng.clone(),
      clientId: this.name.replace("#", "-"),
    });
    this.#epochs = slowMemory(node.memory, this.clock, time.epochWriteMs);
    this.#run().catch(world.onBug);
  }

  admitted(): Admitted[] {
    const { seat } = this;
    if (seat === undefined || this.isDead) return [];
    return seat.holds().flatMap(({ keyspace, rangeId, span, epoch, kind, remainingMs }) => {
      const sample = this.#world.samples.get(sampleKey(keyspace, span.startKey));
      if (sample === undefined) throw new Error(`${rangeId} has no sample key`);
      const isAdmitted = seat.guard({ keyspace, key: sample.key, epoch }).ok;
      const agrees = isAdmitted === (kind === "held" || kind === "suspect");
      if (!agrees || seat.isHeld(keyspace, sample.key) !== isAdmitted) {
        throw new Error(`${this.name}: guard, isHeld and holds disagree on ${sample.name}`);
      }
      if (!isAdmitted || remainingMs === undefined) return [];
      return [{ sample, rangeId, epoch, remainingMs: remainingMs / this.clock.rate }];
    });
  }

  /** Gives up some of what it holds, after a while of draining. */
  async release(drainMs: number, chance: number): Promise<void> {
    const { seat } = this;
    if (seat === undefined) return;
    const ranges = seat.holds().flatMap((hold) => (this.#prng.chance(chance) ? [hold] : []));
    try {
      const drain = (): Promise<void> => this.clock.passing(drainMs);
      const rangeIds = ranges.map(({ rangeId }) => rangeId);
      await seat.release(rangeIds, { drain });
    } catch (error) {
      if (!(error instanceof CoordinationError)) throw error;
    }
  }

  /** Nothing of it runs any more, and nobody is told. */
  kill(): void {
    this.isDead = true;
    this.clock.kill();
    this.#world.network.partyGone(this);
  }

  async #run(): Promise<void> {
    while (this.seat === undefined) {
      try {
        this.seat = await takeSeat({
          client: this.client,
          nodeId: this.nodeId,
          dataUuid: utf8Uuid(this.nodeId),
          addresses: [`${this.nodeId}:1`],
          clock: this.clock,
          timers: this.clock,
          epochs: this.#epochs,
          freshNonce: () => this.#prng.nextUint32(),
          prng: this.#prng.clone(),
        });
      } catch (error) {
        if (!(error instanceof CoordinationError)) throw error;
        this.#world.trace.say(`${this.name} not registered: ${error.reason}`);
        await this.clock.passing(500);
      }
    }
    for await (const event of this.seat.events()) this.#onEvent(event);
  }

  #onEvent(event: SeatEvent): void {
    const { trace } = this.#world;
    const { atMs: _, ...told } = event;
    const words = "rangeId" in told && "epoch" in told ? `${told.rangeId}@${told.epoch}` : "";
    const why = "why" in told ? told.why : "reason" in told ? told.reason : "";
    trace.say(`${this.name} ${told.kind} ${words} ${why ?? ""}`);
    if (event.kind === "sessionOpened") this.hasSession = true;
    if (isSessionLost(event)) this.hasSession = false;
    for (const what of coveredBy(event)) trace.count(what);
    this.#world.onEvent(this, event);
  }
}

export function sampleKey(keyspace: string, startKey: Bytes): string {
  return `${keyspace}/${bytesToHex(startKey)}`;
}

function utf8Uuid(nodeId: string): string {
  return bytesToHex(utf8ToBytes(nodeId)).padEnd(32, "0");
}

function slowMemory(memory: EpochMap, clock: ProcessClock, writeMs: number): EpochMemory {
  return {
    remember: async (epochs: readonly RememberedEpoch[]) => {
      await clock.passing(writeMs);
      memory.apply(memory.changeFor(epochs));
    },
    highWater: (keyspace, span) => memory.highWater(keyspace, span),
  };
}

function isSessionLost(event: SeatEvent): boolean {
  return event.kind === "renewalFailed" && event.reason === "NO_SESSION";
}

function coveredBy(event: SeatEvent): readonly Covered[] {
  switch (event.kind) {
    case "sessionOpened":
      return ["sessions"];
    case "renewed":
      return ["renewals"];
    case "renewalFailed":
      if (isSessionLost(event)) return ["sessionsLost"];
      return event.reason === "VIEW_TOO_OLD" ? ["viewsTooOld"] : ["renewalsFailed"];
    case "expired":
      return ["lapses"];
    case "held":
      return event.again ? ["heldAgain"] : [];
    case "stopped":
      return event.reason === "STALE_INCARNATION" ? ["stoppedAsStale"] : [];
    case "registered":
    case "granted":
    case "accepted":
    case "sessionClosed":
    case "handingOver":
    case "suspect":
    case "refused":
    case "ended":
      return [];
  }
}
