// The service model behind fake servers: a directory for one storage node, n1, whose log time is
// the network's clock. Addresses can be cut off; a cut server does not answer.
import type { Epoch, Incarnation } from "../../src/base/brands.ts";
import { ok, type Result } from "../../src/base/result.ts";
import { type Seat, type SeatOptions, takeSeat } from "../../src/fence/seat.ts";
import type { SeatEvent } from "../../src/fence/seat-events.ts";
import type * as api from "../../src/wire/api.ts";
import { type Answer, FakeNetwork, header, refuse, status } from "../client/support.ts";
import { ServiceModel } from "./service-model.ts";
import { MemoryEpochs, ms } from "./support.ts";

export const ADDRESSES = ["a:1", "b:1", "c:1"];

export class FakeDirectory {
  readonly network = new FakeNetwork();
  readonly model = new ServiceModel();
  readonly epochs = new MemoryEpochs();
  readonly events: SeatEvent[] = [];
  isSessionOpen = false;
  /** Consulted first; undefined: answer as usual. */
  override: ((method: string, request: never) => Answer | undefined) | undefined;
  #rouse: (() => void)[] = [];
  #lastNonce = 0;

  constructor() {
    this.network.serve(ADDRESSES, (method, request) => this.#answer(method, request));
    for (const address of ADDRESSES) {
      this.network.watches.set(address, (request) => this.#watch(address, request));
    }
  }

  get clock(): FakeNetwork["clock"] {
    return this.network.clock;
  }

  kinds(): string[] {
    return this.events.map((event) => event.kind);
  }

  /** Takes the seat of n1 and reads its events in the background. */
  async seat(options: Partial<SeatOptions> = {}): Promise<Seat> {
    const taking = takeSeat({
      client: this.network.client(ADDRESSES),
      nodeId: "n1",
      dataUuid: "0".repeat(32),
      addresses: ["n1:1"],
      clock: this.clock,
      timers: this.clock,
      epochs: this.epochs,
      freshNonce: () => ++this.#lastNonce,
      ...options,
    });
    const [seat] = await Promise.all([taking, this.clock.settle()]);
    void this.#read(seat);
    return seat;
  }

  /** An operator grants one of the two ranges. */
  async grant(index: number, node = "n1"): Promise<void> {
    await this.act(() => this.model.grant(index, node));
  }

  /** Something happens at the service. */
  async act(run: () => void): Promise<void> {
    this.#change(run);
    await this.clock.settle();
  }

  /** Time passes, and what is due is ended as soon as it is. */
  async pass(totalMs: number, stepMs = 50): Promise<void> {
    for (let passedMs = 0; passedMs < totalMs; passedMs += stepMs) {
      await this.clock.advance(Math.min(stepMs, totalMs - passedMs));
      this.#change(() => {
        const { logTimeMs, ranges } = this.model;
        if (ranges.some((one) => one.node !== undefined && one.deadlineMs <= logTimeMs)) {
          this.model.expire();
        }
      });
    }
    await this.clock.settle();
  }

  cut(addresses: readonly string[]): void {
    for (const address of addresses) {
      this.network.handlers.delete(address);
      this.#isCut.add(address);
    }
  }

  heal(): void {
    this.network.serve(ADDRESSES, (method, request) => this.#answer(method, request));
    this.#isCut.clear();
    this.#wakeWatches();
  }

  readonly #isCut = new Set<string>();

  async #read(seat: Seat): Promise<void> {
    for await (const event of seat.events()) this.events.push(event);
  }

  #change(act: () => void): void {
    this.model.logTimeMs = this.clock.nowMs();
    act();
    this.#wakeWatches();
  }

  #wakeWatches(): void {
    for (const rouse of this.#rouse.splice(0)) rouse();
  }

  #answer(method: string, request: never): Answer {
    const overridden = this.override?.(method, request);
    if (overridden !== undefined) return overridden;
    const { model } = this;
    model.logTimeMs = this.clock.nowMs();
    switch (method) {
      case "getStatus":
        return status(ADDRESSES);
      case "register": {
        const incarnation = 1 as Incarnation;
        const head = header({ group: 0, revision: 5 });
        const before = { predecessor: undefined, proven: false };
        return ok({ header: head, incarnation, ...before, shardGroups: [1], replayed: false });
      }
      case "openSession": {
        const alreadyOpen = this.isSessionOpen;
        this.isSessionOpen = true;
        const durations = [{ keyspace: "k", durationMs: 3_000, renewIntervalMs: 1_000 }];
        return ok({ header: header({ revision: ++model.revision }), alreadyOpen, durations });
      }
      case "renew":
        if (!this.isSessionOpen) return refuse("NO_SESSION");
        return this.#entry(() => {
          const { asOf, except } = request as api.RenewRequest;
          return ok(model.renew({ firstSentMs: ms(0), asOf, except, view: new Map() }));
        });
      case "accept":
        return this.#entry(() => {
          const { ranges } = request as api.RangeEpochsRequest;
          return ok({
            header: header({ revision: model.revision }),
            outcomes: ranges.map((one) => this.#judge(one)),
          });
        });
      case "release":
        return this.#entry(() => {
          const { ranges } = request as api.ReleaseRequest;
          const outcomes = ranges.map(({ rangeId, epoch, handOverRevision }) => {
            const refused = model.release(rangeId, epoch, handOverRevision);
            return { rangeId, refused, currentEpoch: epoch };
          });
          return ok({ header: header({ revision: model.revision }), outcomes });
        });
      default:
        return refuse("INTERNAL");
    }
  }

  #entry(answer: () => Answer): Answer {
    const answered = answer();
    this.#wakeWatches();
    return answered;
  }

  #judge({ rangeId, epoch }: api.RangeEpoch): api.ItemOutcome {
    const range = this.model.ranges.find((one) => one.id === rangeId);
    const isOurs = range?.node === "n1" && range.epoch === epoch;
    const currentEpoch = (range?.epoch ?? 0) as Epoch;
    return { rangeId, refused: isOurs ? undefined : "STALE_EPOCH", currentEpoch };
  }

  async *#watch(
    address: string,
    { resumeToken }: api.WatchRequest,
  ): AsyncGenerator<Result<api.WatchFrame, api.Refusal>> {
    if (resumeToken === undefined) this.model.restartWatch();
    let sentMs = this.clock.nowMs();
    for (;;) {
      if (!this.#isCut.has(address)) {
        const frame = this.model.frames.shift();
        if (frame !== undefined) {
          sentMs = this.clock.nowMs();
          yield ok(frame);
          continue;
        }
        if (this.clock.nowMs() - sentMs >= 2_000) {
          this.model.progress();
          continue;
        }
      }
      await new Promise<void>((resolve) => this.#rouse.push(resolve));
    }
  }
}

export interface SeatedWorld {
  readonly directory: FakeDirectory;
  readonly seat: Seat;
}

/** A seat with a session, and nothing granted. */
export async function seated(options: Partial<SeatOptions> = {}): Promise<SeatedWorld> {
  const directory = new FakeDirectory();
  const seat = await directory.seat(options);
  await directory.clock.settle();
  return { directory, seat };
}

/** A seat that holds range r0, from "" to m. */
export async function holding(options: Partial<SeatOptions> = {}): Promise<SeatedWorld> {
  const world = await seated(options);
  await world.directory.grant(0);
  return world;
}
