/**
 * A storage node's seat in the directory: it registers this process, keeps a session in each
 * metadata shard, takes over what it is granted, renews, and knows at every moment what may be
 * served. The process asks its guard; the directory is not needed for an answer.
 */

import { crc32c } from "../base/crc32c.ts";
import type { Epoch, GroupId, Incarnation } from "../base/brands.ts";
import { type Bytes, utf8ToBytes } from "../base/bytes.ts";
import { Prng } from "../base/prng.ts";
import type { Result } from "../base/result.ts";
import type { Span } from "../base/span.ts";
import { Backoff } from "../client/backoff.ts";
import type { Client } from "../client/client.ts";
import { CoordinationError } from "../client/errors.ts";
import type { Clock, Timers } from "../client/ports.ts";
import { type LinkedAbort, linkAborts, sleep } from "../client/wait.ts";
import type { Owner, Refusal, RegisterAnswer } from "../wire/api.ts";
import type { Reason } from "../wire/errors.ts";
import type { EpochMemory } from "./epochs.ts";
import type { ProcessStart } from "./process-start.ts";
import { GroupSeat } from "./group-seat.ts";
import { admit, type Admission, type GuardRequest, type GuardWorld } from "./guard.ts";
import { type HoldKind, holdKindAt, isServable } from "./hold.ts";
import {
  refusedEvent,
  type SeatEvent,
  SeatEventQueue,
  type TimelessSeatEvent,
} from "./seat-events.ts";

const REGISTER_DEADLINE_MS = 30_000;
const DRAIN_MS = 5_000;

/** What a seat is made of. */
export interface SeatOptions {
  /** May be shared with the rest of the process; closing the seat does not close it. */
  readonly client: Client;
  /** 1 to 64 characters of [A-Za-z0-9_.-]; bound to the data directory's uuid for good. */
  readonly nodeId: string;
  /** Of the node's data directory, 32 hex digits, dashes allowed. */
  readonly dataUuid: string;
  /** 1 to 8; the first is what clients use. */
  readonly addresses: readonly string[];
  readonly zone?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** In units of the operator's choice; 0: not stated. */
  readonly capacity?: number | undefined;
  /**
   * Of the node's data directory, as this process has it open. Left out, a restarted process waits
   * until the leases of the one before it have run out.
   */
  readonly start?: ProcessStart | undefined;
  /**
   * Called when another process turns out to be this incarnation, before the seat stops: the next
   * process on these data must not prove by {@link start} that this one is dead.
   */
  readonly voidProof?: (() => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Where epochs are made durable before they are used. */
  readonly epochs: EpochMemory;
  /**
   * A number below 2^53, drawn at each call from the operating system and never from a state that
   * a copy of this process or its machine would share: by it two of them are told apart (law 13).
   */
  readonly freshNonce: () => number;
  /** Jitter; by default seeded from the node id. */
  readonly prng?: Prng | undefined;
  /**
   * How long what was admitted may take to end when a range is handed over, in ms; default 5,000,
   * and never longer than the lease. After it the range is closed, and results are refused.
   */
  readonly drainMs?: number | undefined;
  /** For the registration, in ms; default 30,000. */
  readonly registerDeadlineMs?: number | undefined;
  /** Closes the seat, releasing nothing. */
  readonly signal?: AbortSignal | undefined;
}

/** One range as this process holds it. */
export interface SeatHold {
  readonly group: GroupId;
  readonly keyspace: string;
  readonly rangeId: string;
  readonly span: Span;
  readonly epoch: Epoch;
  readonly kind: HoldKind;
  /** Until this process stops serving it; undefined: no deadline yet. Negative: since when. */
  readonly remainingMs: number | undefined;
}

/**
 * Registers this process and starts keeping its seat. Resolves when it is registered; sessions,
 * grants and renewals follow on their own and show in {@link Seat.events}.
 *
 * Throws a CoordinationError when the registration fails: NODE_ID_TAKEN (another data directory has
 * this node id), DENIED, INVALID, CLUSTER_MISMATCH, or an unavailable directory after
 * `registerDeadlineMs`. Trying again is safe: an incarnation that was made and not used holds
 * nothing.
 */
export async function takeSeat(options: SeatOptions): Promise<Seat> {
  const { client, nodeId, dataUuid, addresses } = options;
  const registered = await client.ownership.register(
    {
      nodeId,
      dataUuid,
      addresses,
      zone: options.zone ?? "",
      labels: options.labels ?? {},
      capacity: options.capacity ?? 0,
      start: options.start,
    },
    { deadlineMs: options.registerDeadlineMs ?? REGISTER_DEADLINE_MS, signal: options.signal },
  );
  return new Seat(options, registered);
}

/** Made by {@link takeSeat}. */
export class Seat {
  readonly nodeId: string;
  readonly incarnation: Incarnation;
  readonly #options: SeatOptions;
  readonly #groups: readonly GroupSeat[];
  readonly #queue = new SeatEventQueue();
  readonly #stopping = new AbortController();
  /** Aborted with that, or when another process turns out to be this incarnation. */
  readonly #acting: LinkedAbort = linkAborts(this.#stopping.signal);
  /** The present watch, to be begun anew. */
  #watching: LinkedAbort | undefined;
  readonly #guardWorld: GuardWorld;
  readonly #prng: Prng;
  readonly #running: Promise<unknown>;

  constructor(options: SeatOptions, registered: RegisterAnswer) {
    const { clock, drainMs = DRAIN_MS, epochs, freshNonce, nodeId, timers, client } = options;
    this.#options = options;
    this.nodeId = nodeId;
    this.incarnation = registered.incarnation;
    this.#prng = options.prng ?? Prng.fromSeed(crc32c(utf8ToBytes(nodeId)));
    const owner: Owner = { nodeId, incarnation: registered.incarnation };
    const ended = this.#stopping.signal;
    const stopped = this.#acting.signal;
    const emit = (event: TimelessSeatEvent): void => this.#emit(event);
    const refreshView = (): void => this.#watching?.abort();
    const fail = (reason: Reason, message: string): void => this.#stop(reason, message);
    const onCopied = (message: string): Promise<void> => this.#runOut(message);
    this.#groups = registered.shardGroups.map((group) => {
      const prng = this.#prng.clone();
      const world = { client, clock, timers, prng, epochs, freshNonce, drainMs };
      const signals = { stopped, ended };
      return new GroupSeat({
        ...world,
        ...signals,
        owner,
        group,
        emit,
        refreshView,
        fail,
        onCopied,
      });
    });
    this.#guardWorld = {
      clock,
      epochs,
      groups: this.#groups,
      isOpen: () => !ended.aborted,
    };
    const { incarnation, predecessor, proven, shardGroups } = registered;
    const registration = { incarnation, predecessor, proven, groups: shardGroups };
    this.#emit({ kind: "registered", nodeId, ...registration });
    this.#running = Promise.all([this.#runWatch(owner), ...this.#groups.map((one) => one.run())]);
    const { signal } = options;
    if (signal?.aborted === true) this.#stopByProcess();
    else signal?.addEventListener("abort", () => this.#stopByProcess(), { once: true });
  }

  /** Everything that happens to the seat, from its registration on, for one reader. */
  events(): AsyncIterable<SeatEvent> {
    return this.#queue;
  }

  /** What this process holds now, served or not. */
  holds(): readonly SeatHold[] {
    const nowMs = this.#options.clock.nowMs();
    return this.#groups.flatMap(({ keeper }) =>
      keeper.holds().map((hold) => {
        const { keyspace, rangeId, span } = hold.record.descriptor;
        const kind = this.#stopping.signal.aborted ? "ended" : holdKindAt(hold, nowMs);
        const remainingMs = hold.deadlineMs === undefined ? undefined : hold.deadlineMs - nowMs;
        const { group } = keeper;
        return { group, keyspace, rangeId, span, epoch: hold.epoch, kind, remainingMs };
      }),
    );
  }

  /** Whether the key may be served at this moment, whatever the caller knows of its epoch. */
  isHeld(keyspace: string, key: Bytes): boolean {
    const nowMs = this.#options.clock.nowMs();
    return (
      !this.#stopping.signal.aborted &&
      this.#groups.some(({ keeper }) => {
        const hold = keeper.find(keyspace, key);
        return hold !== undefined && isServable(hold, nowMs);
      })
    );
  }

  /** Admits one request, or refuses it by the contract's table; see {@link admit}. */
  guard(request: GuardRequest): Result<Admission, Refusal> {
    return admit(this.#guardWorld, request);
  }

  /**
   * Gives ranges up. They stop being served at once; then `drain` is awaited, in which the process
   * ends what it has admitted; then the directory is told. Ids that are not held are left out.
   *
   * Throws a CoordinationError when the directory can't be told: the ranges stay given up here, and
   * their leases run out.
   */
  async release(
    rangeIds: readonly string[] | "all",
    options: { readonly drain?: (() => Promise<void>) | undefined } = {},
  ): Promise<void> {
    const given = this.#groups.map((group) => ({ group, ranges: group.stopServing(rangeIds) }));
    await options.drain?.();
    // Who closes the seat stops it when this returns: the other groups are told first.
    const told = await Promise.allSettled(given.map((one) => one.group.giveUp(one.ranges)));
    for (const one of told) if (one.status === "rejected") throw one.reason;
  }

  /**
   * Ends the seat. With `release`, everything is given up first, so that others need not wait for
   * the leases to run out; without, it is as if the process had died. Never throws for a directory
   * that can't be told. Resolves when nothing of the seat runs any more.
   */
  async close(options: {
    readonly release: boolean;
    readonly drain?: (() => Promise<void>) | undefined;
  }): Promise<void> {
    if (options.release && !this.#stopping.signal.aborted) {
      try {
        await this.release("all", { drain: options.drain });
      } catch (error) {
        if (!(error instanceof CoordinationError)) throw error;
        this.#emit(refusedEvent("release", error));
      }
    }
    this.#stopByProcess();
    await this.#running;
  }

  /** One watch for all groups; it resumes by itself, and is begun again when it can't. */
  async #runWatch({ nodeId }: Owner): Promise<void> {
    const { client, timers } = this.#options;
    const { signal } = this.#stopping;
    const backoff = new Backoff(this.#prng.clone());
    while (!signal.aborted) {
      const watching = linkAborts(signal);
      this.#watching = watching;
      try {
        for await (const frame of client.watch({ nodeId }, { signal: watching.signal })) {
          if (signal.aborted) return;
          backoff.reset();
          this.#groups.find((one) => one.keeper.group === frame.header.group)?.onFrame(frame);
        }
        // Begun anew, or the client was closed under us: renewals say what that means.
        await sleep(timers, backoff.nextMs(), signal);
      } catch (error) {
        if (!(error instanceof CoordinationError)) throw error;
        if (signal.aborted) return;
        this.#emit(refusedEvent("watch", error));
        await sleep(timers, backoff.nextMs(error.refusal.retryAfterMs), signal);
      } finally {
        watching.release();
      }
    }
  }

  /**
   * Another process is this incarnation, one of the groups has said. In no group is anything asked
   * any more: what one process gives up the other may serve (law 13). What is held is served to its
   * deadlines, because the groups keep it for both until then; and then this process is of no more
   * use.
   */
  async #runOut(message: string): Promise<void> {
    if (this.#acting.signal.aborted) return;
    this.#acting.abort();
    const { timers, voidProof } = this.#options;
    const { signal } = this.#stopping;
    let whyNot = "";
    try {
      await voidProof?.();
    } catch (error) {
      whyNot = `; its proof stays (${String(error)}): let the leases end before a restart`;
    }
    for (;;) {
      const restMs = Math.max(0, ...this.#groups.map((group) => group.longestRestMs()));
      if (restMs === 0 || signal.aborted) break;
      await sleep(timers, restMs, signal);
    }
    for (const group of this.#groups) group.onTime();
    this.#stop("SESSION_CLOSED", message + whyNot);
  }

  #emit(event: TimelessSeatEvent): void {
    this.#queue.push({ ...event, atMs: this.#options.clock.nowMs() });
  }

  #stopByProcess(): void {
    this.#stop(undefined, "closed by its process");
  }

  #stop(reason: Reason | undefined, message: string): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    this.#emit({ kind: "stopped", reason, message });
    this.#queue.end();
  }
}
