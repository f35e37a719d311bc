/**
 * Property 16: with clocks within rho at most one guard admits a key at any moment of true time,
 * and an owner gives up before the group does (law 10); "still held" is true. Whatever the clocks
 * do, no guarded write is accepted under an epoch older than one already accepted for its key.
 *
 * A guard's answer changes only when something runs in its process, and by time alone only from yes
 * to no: so a process is looked at after each of its events.
 */

import type { Epoch } from "../../../src/base/brands.ts";
import { CLOCK_RATE_ERROR, GUARD_MS } from "../../../src/base/lease-timing.ts";
import type { Owner } from "../../../src/machine/shard/types.ts";
import { must } from "../must.ts";
import type { RevisionSeen } from "../range-versions.ts";

/** What a guard admits now, or lets end that it has admitted. */
export interface Admitted {
  readonly name: string;
  readonly rangeId: string;
  readonly epoch: Epoch;
  /** True time until the process stops by itself. */
  readonly remainingMs: number;
}

/** A storage node's process, as far as this checker looks at it. */
export interface Guarding {
  readonly name: string;
  readonly isDead: boolean;
  admitted(): readonly Admitted[];
  admits(name: string): boolean;
}

/** The group's side of one lease. */
export interface ServiceView {
  /** Whether the group has the range granted to the process under the epoch, and accepted. */
  readonly isGranted: boolean;
  /** Log time that the lease has left, were an entry appended now. */
  readonly leaseMs: number;
}

interface Held {
  readonly process: Guarding;
  readonly epoch: Epoch;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** The group's own reading is of its last input, up to a tick ago, and in whole ms. */
const ROUNDING_MS = 2;
/** Sums of fractions of ms. */
const EPSILON_MS = 0.01;

/**
 * Whatever the clocks do, a guard has closed before its process asks that the range be given up,
 * and so before the log says that it was (law 12).
 */
export function checkReleased(
  { changes }: RevisionSeen,
  serves: (owner: Owner, rangeId: string, epoch: Epoch) => boolean,
): void {
  for (const { cause, before } of changes) {
    if (cause !== "released" || before?.owner === undefined) continue;
    const { owner, rangeId, epoch } = before;
    const isServed = serves(owner, rangeId, epoch);
    must(!isServed, 16, `${owner.nodeId} has released ${rangeId}@${epoch} and serves it`);
  }
}

export class OneOwnerChecker {
  readonly #nowMs: () => number;
  readonly #service: (process: Guarding, admitted: Admitted) => ServiceView | undefined;
  /** By key, then process. */
  readonly #held = new Map<string, Map<Guarding, Held>>();
  /** By key: the largest epoch that any guard has admitted. */
  readonly #admitted = new Map<string, Epoch>();
  readonly #accepted = new Map<string, Epoch>();

  constructor(options: {
    readonly nowMs: () => number;
    /** undefined: the group's side can't be told at the moment. */
    readonly service: (process: Guarding, admitted: Admitted) => ServiceView | undefined;
  }) {
    this.#nowMs = options.nowMs;
    this.#service = options.service;
  }

  /** Something has run in the process. Only with clocks within rho. */
  onRan(process: Guarding): void {
    const admitted = process.isDead ? [] : process.admitted();
    const names = new Set(admitted.map(({ name }) => name));
    for (const [name, holders] of this.#held) if (!names.has(name)) holders.delete(process);
    for (const one of admitted) this.#check(process, one);
  }

  /** Since when the process has admitted the key under the epoch, without a break. */
  heldSince(process: Guarding, name: string, epoch: Epoch): number | undefined {
    const held = this.#held.get(name)?.get(process);
    return held?.epoch === epoch && held.untilMs >= this.#nowMs() ? held.sinceMs : undefined;
  }

  /** A guard has called an admission still held. */
  onStillHeld(process: Guarding, name: string, epoch: Epoch, admittedAtMs: number): void {
    const sinceMs = this.heldSince(process, name, epoch);
    const isWhole = sinceMs !== undefined && sinceMs <= admittedAtMs + EPSILON_MS;
    must(isWhole, 16, `${process.name} calls ${name} still held across a break`);
  }

  /** A fenced store has accepted a guarded write of a key. */
  onAccepted(name: string, epoch: Epoch): void {
    const before = this.#accepted.get(name) ?? 0;
    must(epoch >= before, 16, `a write of ${name} is accepted under ${epoch} after ${before}`);
    this.#accepted.set(name, epoch);
  }

  #check(process: Guarding, admitted: Admitted): void {
    const { name, epoch, remainingMs } = admitted;
    const nowMs = this.#nowMs();
    let holders = this.#held.get(name);
    if (holders === undefined) {
      holders = new Map();
      this.#held.set(name, holders);
    }
    for (const other of holders.keys()) {
      if (other === process || other.isDead) continue;
      must(!other.admits(name), 16, `${name} is admitted by ${process.name} and ${other.name}`);
    }
    const before = this.#admitted.get(name) ?? 0;
    must(epoch >= before, 16, `${name} is admitted under epoch ${epoch} after ${before}`);
    this.#admitted.set(name, epoch);
    const held = holders.get(process);
    const isUnbroken = held?.epoch === epoch && held.untilMs + EPSILON_MS >= nowMs;
    const sinceMs = isUnbroken ? held.sinceMs : nowMs;
    holders.set(process, { process, epoch, sinceMs, untilMs: nowMs + remainingMs });
    this.#agrees(process, admitted);
  }

  /** The group will not end the lease before the process has stopped, renewed or not. */
  #agrees(process: Guarding, admitted: Admitted): void {
    const { rangeId, epoch, remainingMs } = admitted;
    const service = this.#service(process, admitted);
    if (service === undefined) return;
    must(service.isGranted, 16, `${process.name} admits ${rangeId} under ${epoch}, long ended`);
    const serviceMs = service.leaseMs / (1 + CLOCK_RATE_ERROR);
    const ownerMs = remainingMs + GUARD_MS / (1 + CLOCK_RATE_ERROR);
    const isEarlier = ownerMs <= serviceMs + ROUNDING_MS;
    must(
      isEarlier,
      16,
      `${process.name} serves ${rangeId} for ${remainingMs} ms, the group for ${serviceMs} ms`,
    );
  }
}
