/**
 * The servers that a client knows: their channels, and which one to ask next. Endpoints given by
 * the user always stay; addresses learnt from the cluster's status come after them.
 *
 * All of it is hints: any server answers any call. The group's leader comes first when its address
 * is known, then the server that answered last, then the others in turn, and those that failed
 * within FAILURE_MEMORY_MS last.
 */

import { assert } from "../base/assert.ts";
import type { GroupId, MonotonicMs, ServerId } from "../base/brands.ts";
import type { Prng } from "../base/prng.ts";
import type { Header, ServerStatus } from "../wire/api.ts";
import type { ChannelFactory, ServerChannel } from "./channel.ts";
import type { Clock } from "./ports.ts";

/** Long enough that calls don't queue up at a dead server, short enough to notice its return. */
const FAILURE_MEMORY_MS = 5_000;

export class Servers {
  readonly #endpoints: readonly string[];
  readonly #makeChannel: ChannelFactory;
  readonly #clock: Clock;
  readonly #channels = new Map<string, ServerChannel>();
  readonly #failedAt = new Map<string, MonotonicMs>();
  readonly #leaders = new Map<GroupId, ServerId>();
  /** Where a server answered from; better than what it says of itself, which we may not reach. */
  readonly #answeredFrom = new Map<ServerId, string>();
  #stated: ReadonlyMap<ServerId, string> = new Map();
  #addresses: readonly string[];
  #lastGood: string | undefined;
  /** Where the turn starts: a random endpoint at first, so that clients spread. */
  #turn: number;

  constructor(options: {
    readonly endpoints: readonly string[];
    readonly channels: ChannelFactory;
    readonly clock: Clock;
    readonly prng: Prng;
  }) {
    assert(options.endpoints.length > 0, "a client needs at least one endpoint");
    this.#endpoints = [...new Set(options.endpoints)];
    this.#addresses = this.#endpoints;
    this.#makeChannel = options.channels;
    this.#clock = options.clock;
    this.#turn = options.prng.nextInteger(0, this.#endpoints.length - 1);
  }

  /** Endpoints first, then what the cluster's status named of servers that no endpoint leads to. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  channel(address: string): ServerChannel {
    let channel = this.#channels.get(address);
    if (channel === undefined) {
      channel = this.#makeChannel(address);
      this.#channels.set(address, channel);
    }
    return channel;
  }

  /**
   * The best server that is not excluded; undefined when all are. `spread` ignores leaders and the
   * last good server: for watches, which every replica serves.
   */
  pick(options: {
    readonly group: GroupId | undefined;
    readonly exclude: ReadonlySet<string>;
    readonly spread?: boolean;
  }): string | undefined {
    const addresses = this.addresses.filter((address) => !options.exclude.has(address));
    const healthy = addresses.filter((address) => !this.#failedLately(address));
    if (options.spread !== true) {
      for (const preferred of [this.#leaderAddress(options.group), this.#lastGood]) {
        if (preferred !== undefined && healthy.includes(preferred)) return preferred;
      }
    }
    const candidates = healthy.length > 0 ? healthy : addresses;
    const all = this.addresses;
    for (let step = 0; step < all.length; step++) {
      const address = all[(this.#turn + step) % all.length];
      if (address !== undefined && candidates.includes(address)) {
        this.#turn = (this.#turn + step + 1) % all.length;
        return address;
      }
    }
    return undefined;
  }

  /** Whether a leader is named whose address nobody has told us. */
  get missesLeaderAddress(): boolean {
    return [...this.#leaders.values()].some((leader) => this.#addressOf(leader) === undefined);
  }

  noteAnswer(address: string, header: Header): void {
    this.#failedAt.delete(address);
    this.#lastGood = address;
    if (this.#answeredFrom.get(header.serverId) !== address) {
      this.#answeredFrom.set(header.serverId, address);
      this.#listAddresses();
    }
    if (header.leaderServerId === undefined) this.#leaders.delete(header.group);
    else this.#leaders.set(header.group, header.leaderServerId);
  }

  /** It did not answer, or can't at present: others are asked first for a while. */
  noteFailure(address: string): void {
    this.#failedAt.set(address, this.#clock.nowMs());
    if (this.#lastGood === address) this.#lastGood = undefined;
  }

  /** The cluster's own list; servers that left it and are no endpoint are dropped. */
  noteServers(servers: readonly ServerStatus[]): void {
    const stated = servers.filter((server) => server.grpcAddress !== "");
    this.#stated = new Map(stated.map((server) => [server.serverId, server.grpcAddress]));
    this.#listAddresses();
    const known = new Set(this.#addresses);
    for (const [address, channel] of this.#channels) {
      if (known.has(address)) continue;
      channel.close();
      this.#channels.delete(address);
      this.#failedAt.delete(address);
    }
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
  }

  #listAddresses(): void {
    const others = [...this.#stated].filter(([server]) => {
      const answered = this.#answeredFrom.get(server);
      return answered === undefined || !this.#endpoints.includes(answered);
    });
    this.#addresses = [...new Set([...this.#endpoints, ...others.map(([, address]) => address)])];
  }

  #leaderAddress(group: GroupId | undefined): string | undefined {
    const leader = group === undefined ? undefined : this.#leaders.get(group);
    return leader === undefined ? undefined : this.#addressOf(leader);
  }

  #addressOf(server: ServerId): string | undefined {
    const answered = this.#answeredFrom.get(server);
    return answered !== undefined && this.addresses.includes(answered)
      ? answered
      : this.#stated.get(server);
  }

  #failedLately(address: string): boolean {
    const failedAt = this.#failedAt.get(address);
    return failedAt !== undefined && this.#clock.nowMs() - failedAt < FAILURE_MEMORY_MS;
  }
}
