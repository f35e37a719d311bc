/**
 * What every client process of the simulation is made of: a clock, a real client over faulty
 * channels, and chance of its own.
 */

import { Prng } from "../../../src/base/prng.ts";
import { Client } from "../../../src/client/client.ts";
import { CoordinationError } from "../../../src/client/errors.ts";
import type { ChannelParty, FaultyChannels } from "../../../src/testing/faulty-channels.ts";
import { ProcessClock } from "../../../src/testing/process-clock.ts";
import type { VirtualClock } from "../../../src/testing/virtual-clock.ts";
import type { Operations } from "../operations.ts";
import type { ShardOracle } from "../oracle.ts";
import type { Trace } from "../trace.ts";

/** What actors share. */
export interface ActorWorld {
  readonly clock: VirtualClock;
  readonly channels: FaultyChannels;
  /** Addresses of the servers. */
  readonly endpoints: readonly string[];
  readonly trace: Trace;
  readonly operations: Operations;
  readonly oracle: ShardOracle;
  readonly seed: number;
  readonly onBug: (error: unknown) => void;
}

export interface PartyOptions {
  readonly name: string;
  readonly rate?: number;
  readonly startMs?: number;
  readonly onRan?: () => void;
}

/** While nobody answers, more callers would only make more of the same. */
const AT_A_TIME = 3;

export class Party implements ChannelParty {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly client: Client;
  readonly prng: Prng;
  protected readonly world: ActorWorld;

  constructor(world: ActorWorld, { name, ...time }: PartyOptions) {
    this.world = world;
    this.name = name;
    this.clock = new ProcessClock(world.clock, time);
    this.prng = Prng.fromSeed(world.seed * 1_000_003 + hashName(name));
    this.client = new Client({
      endpoints: world.endpoints,
      channels: world.channels.factory(this),
      clock: this.clock,
      timers: this.clock,
      prng: this.prng.clone(),
      clientId: name.replace("#", "-"),
    });
  }

  /** Does something again and again, at about this pace, a few at a time. */
  repeat(everyMs: number, act: () => Promise<void>): void {
    let underWay = 0;
    const over = (): void => {
      underWay--;
    };
    const next = (): void => {
      this.clock.after(everyMs * (0.2 + 1.6 * this.prng.nextFraction()), () => {
        next();
        if (underWay >= AT_A_TIME) return;
        underWay++;
        this.tolerant(act).then(over, this.world.onBug);
      });
    };
    next();
  }

  /** What clients are prepared for: the outcome is told, and the act is over. */
  async tolerant(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof CoordinationError)) throw error;
      const { trace } = this.world;
      trace.say(`${this.name}: ${error.reason}, ${error.outcome}`);
      if (error.outcome === "unknown") trace.count("unknownOutcomes");
    }
  }
}

function hashName(name: string): number {
  let hash = 7;
  for (let at = 0; at < name.length; at++) hash = (hash * 31 + name.charCodeAt(at)) % 1_000_000;
  return hash;
}
