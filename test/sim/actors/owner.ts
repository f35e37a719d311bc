/**
 * One process of a storage node: a real client and a real seat on a clock of their own, and the
 * requests that it admits, works on, and writes to the fenced store under its epoch. The node's
 * memory of epochs outlives the process; writing it takes time, and raises the store's high-water
 * before an epoch is first used (law 17).
 */

import type { Epoch } from "../../../src/base/brands.ts";
import { bytesToHex, utf8ToBytes } from "../../../src/base/bytes.ts";
import type { Span } from "../../../src/base/span.ts";
import type { ClientOwnership } from "../../../src/client/requests.ts";
import { CoordinationError } from "../../../src/client/errors.ts";
import { EpochMap } from "../../../src/fence/epoch-map.ts";
import type { EpochMemory, RememberedEpoch } from "../../../src/fence/epochs.ts";
import type { ProcessStart } from "../../../src/fence/process-start.ts";
import { Seat, type SeatOptions, takeSeat } from "../../../src/fence/seat.ts";
import type { SeatEvent } from "../../../src/fence/seat-events.ts";
import type { Admitted, Guarding } from "../checkers/p16-one-owner.ts";
import type { Covered } from "../coverage.ts";
import type { RegisterAnswer } from "../../../src/wire/api.ts";
import { must } from "../must.ts";
import type { FencedStore } from "./fenced-store.ts";
import { sampleKey } from "./keyspaces.ts";
import { type ActorWorld, Party } from "./party.ts";

export interface OwnerNode {
  readonly nodeId: string;
  readonly memory: EpochMap;
  /** Processes of it so far. */
  count: number;
  /** Starts that the data directory has counted. */
  starts: number;
  /** Of its machine. */
  boots: number;
}

export function newNode(nodeId: string): OwnerNode {
  return { nodeId, memory: new EpochMap(), count: 0, starts: 0, boots: 1 };
}

export interface OwnerOptions {
  readonly node: OwnerNode;
  /** It has the node's data directory for itself. */
  readonly hasLock: boolean;
  /** Set: a copy of that process, as it was when it had just registered, on a copied machine. */
  readonly copyOf: OwnerProcess | undefined;
  readonly store: FencedStore;
  readonly rate: number;
  readonly startMs: number;
  readonly epochWriteMs: number;
  readonly drainMs: number;
  readonly onRan: (owner: OwnerProcess) => void;
  readonly onEvent: (owner: OwnerProcess, event: SeatEvent) => void;
  readonly onStillHeld: (
    owner: OwnerProcess,
    held: { readonly name: string; readonly epoch: Epoch; readonly admittedAtMs: number },
  ) => void;
}

const RAISE_RETRY_MS = 60;
/** Of requests that nobody calls finished: a hand-over drains until the time for it is up. */
const NEVER_FINISHED = 0.1;

export class OwnerProcess extends Party implements Guarding {
  readonly nodeId: string;
  seat: Seat | undefined;
  isDead = false;
  hasSession = false;
  /** Its seat is giving everything up, for good. */
  isClosing = false;
  /** How it registered. */
  registered: RegisterAnswer | undefined;
  /** A renewal was answered since this was last set to false. */
  isRenewed = false;
  readonly #options: OwnerOptions;
  /** Ranges that it has been asked to hand over. */
  readonly #asked = new Set<string>();

  constructor(world: ActorWorld, options: OwnerOptions) {
    const { node, rate, startMs } = options;
    node.count++;
    super(world, {
      name: `${node.nodeId}#${node.count}`,
      rate,
      startMs,
      onRan: () => options.onRan(this),
    });
    this.nodeId = node.nodeId;
    this.#options = options;
    this.registered = options.copyOf?.registered;
    world.operations.listenTo(this.client, this.name);
    this.#run().catch(world.onBug);
  }

  get original(): OwnerProcess | undefined {
    return this.#options.copyOf;
  }

  get isCopy(): boolean {
    return this.original !== undefined;
  }

  admitted(): Admitted[] {
    const { seat } = this;
    if (seat === undefined || this.isDead) return [];
    return seat.holds().flatMap((hold) => {
      const { keyspace, rangeId, span, epoch, kind, remainingMs } = hold;
      const { key, name } = sampleKey(keyspace, span.startKey);
      const admission = seat.guard({ keyspace, key, epoch });
      const isAdmitted = admission.ok;
      if (isAdmitted) admission.value.finish();
      const agrees = isAdmitted === (kind === "held" || kind === "suspect");
      const isConsistent = agrees && seat.isHeld(keyspace, key) === isAdmitted;
      must(isConsistent, 16, `${this.name}: guard, isHeld and holds disagree on ${name}`);
      // What was admitted may still end while a hand-over drains.
      const isHolding = isAdmitted || kind === "draining";
      if (!isHolding || remainingMs === undefined) return [];
      return [{ name, rangeId, epoch, remainingMs: remainingMs / this.clock.rate }];
    });
  }

  admits(name: string): boolean {
    return this.admitted().some((one) => one.name === name);
  }

  /** A data request: admitted, worked on for a while, written, and asked about before it leaves. */
  request(workMsMax: number): void {
    const { seat, world } = this;
    if (seat === undefined || this.clock.isPaused || this.isDead) return;
    const held = seat.holds();
    if (held.length === 0) return;
    const { keyspace, span, epoch } = this.prng.pick(held);
    const { key, name } = sampleKey(keyspace, span.startKey);
    const admission = seat.guard({ keyspace, key, epoch });
    if (!admission.ok) return;
    world.trace.count("admissions");
    this.#checkFenced(keyspace, span, epoch);
    const admittedAtMs = world.clock.nowMs();
    this.clock.after(this.prng.nextFraction() ** 2 * workMsMax, () => {
      this.#write({ keyspace, span, epoch }).catch(world.onBug);
      const isHeld = admission.value.assertStillHeld().ok;
      if (!this.prng.chance(NEVER_FINISHED)) admission.value.finish();
      world.trace.count(isHeld ? "stillHeld" : "uncertain");
      if (isHeld) this.#options.onStillHeld(this, { name, epoch, admittedAtMs });
    });
  }

  /** Gives up some of what it holds, after a while of draining. */
  async release(drainMs: number, chance: number): Promise<void> {
    const { seat } = this;
    if (seat === undefined) return;
    const ranges = seat.holds().filter(() => this.prng.chance(chance));
    const rangeIds = ranges.map(({ rangeId }) => rangeId);
    await this.tolerant(() => seat.release(rangeIds, { drain: () => this.clock.passing(drainMs) }));
  }

  /** Nothing of it runs any more, and nobody is told. */
  kill(): void {
    this.isDead = true;
    this.clock.kill();
    this.world.channels.partyGone(this);
  }

  async #write(token: { keyspace: string; span: Span; epoch: Epoch }): Promise<void> {
    const { trace } = this.world;
    const result = await this.#options.store.write(this, token);
    if (result === "accepted") trace.count("guardedWrites");
    if (result === "fenced") trace.count("fencedOff");
  }

  /** Law 17: the high-water is durable at the store before the first use of an epoch. */
  #checkFenced(keyspace: string, span: Span, epoch: Epoch): void {
    const highWater = this.#options.store.highWater(keyspace, span);
    must(highWater >= epoch, 16, `${this.name} uses epoch ${epoch}, the store knows ${highWater}`);
  }

  async #run(): Promise<void> {
    const { node } = this.#options;
    const { registered } = this;
    const options: SeatOptions = {
      client: this.client,
      nodeId: this.nodeId,
      dataUuid: bytesToHex(utf8ToBytes(this.nodeId)).padEnd(32, "0"),
      addresses: [`${this.nodeId}:1`],
      clock: this.clock,
      timers: this.clock,
      epochs: this.#epochMemory(),
      start: this.#noteStart(),
      voidProof: () => {
        // A copy has a data directory of its own.
        if (!this.isCopy) node.starts++;
        return Promise.resolve();
      },
      freshNonce: () => this.prng.nextUint32(),
      drainMs: this.#options.drainMs,
      prng: this.prng.clone(),
    };
    this.seat =
      registered === undefined ? await this.#takeSeat(options) : new Seat(options, registered);
    for await (const event of this.seat.events()) this.#onEvent(event);
  }

  async #takeSeat(options: SeatOptions): Promise<Seat> {
    const methods: { -readonly [Name in keyof ClientOwnership]: ClientOwnership[Name] } =
      this.client.ownership;
    const { register } = methods;
    methods.register = async (request, how) => {
      this.registered = await register(request, how);
      return this.registered;
    };
    for (;;) {
      try {
        return await takeSeat(options);
      } catch (error) {
        if (!(error instanceof CoordinationError)) throw error;
        this.world.trace.say(`${this.name} is not registered: ${error.reason}`);
        await this.clock.passing(500);
      }
    }
  }

  /** What the kernel and the data directory vouch for (law 13). */
  #noteStart(): ProcessStart | undefined {
    const { node, hasLock } = this.#options;
    if (!hasLock) return undefined;
    const startCount = ++node.starts;
    const bootId = String(node.boots).padStart(32, "0");
    return { bootId, lockFile: `1:${node.nodeId.slice(1)}`, startCount };
  }

  #epochMemory(): EpochMemory {
    const { node, store, epochWriteMs } = this.#options;
    return {
      remember: async (epochs: readonly RememberedEpoch[]) => {
        await this.clock.passing(epochWriteMs);
        node.memory.apply(node.memory.changeFor(epochs));
        while (!(await store.raise(this, epochs))) await this.clock.passing(RAISE_RETRY_MS);
      },
      highWater: (keyspace, span) => node.memory.highWater(keyspace, span),
    };
  }

  #onEvent(event: SeatEvent): void {
    const { trace } = this.world;
    const words = "rangeId" in event && "epoch" in event ? `${event.rangeId}@${event.epoch}` : "";
    const why = "why" in event ? event.why : "reason" in event ? event.reason : "";
    trace.say(`${this.name} ${event.kind} ${words} ${why ?? ""}`);
    if (event.kind === "sessionOpened") this.hasSession = true;
    if (event.kind === "renewed") this.isRenewed = true;
    if (isSessionLost(event) || event.kind === "sessionClosed") this.hasSession = false;
    for (const what of coveredBy(event)) trace.count(what);
    if (event.kind === "handingOver") this.#asked.add(event.rangeId);
    if (event.kind === "ended") this.#asked.delete(event.rangeId);
    const isHeldAgain = event.kind === "held" && event.again;
    if (isHeldAgain && this.#asked.delete(event.rangeId)) trace.count("handOversTakenBack");
    this.#options.onEvent(this, event);
  }
}

function isSessionLost(event: SeatEvent): boolean {
  return event.kind === "renewalFailed" && event.reason === "NO_SESSION";
}

function coveredBy(event: SeatEvent): readonly Covered[] {
  switch (event.kind) {
    case "sessionOpened":
      return ["sessionsOpened"];
    case "renewed":
      return ["renewals"];
    case "renewalFailed":
      if (isSessionLost(event)) return ["sessionsLost"];
      return event.reason === "VIEW_TOO_OLD" ? ["viewsTooOld"] : ["renewalsFailed"];
    case "expired":
      return ["lapses"];
    case "held":
      return event.again ? ["heldAgain"] : [];
    case "ended":
      return event.why === "handedOver" ? ["handedOver"] : [];
    case "stopped":
      return event.reason === "STALE_INCARNATION" ? ["stoppedAsStale"] : [];
    case "sessionClosed":
      return ["sessionsClosed"];
    case "handingOver":
      return ["handOversAsked"];
    case "registered":
      return [event.proven ? "registeredWithProof" : "registeredWithout"];
    case "granted":
    case "accepted":
    case "suspect":
    case "refused":
      return [];
  }
}
