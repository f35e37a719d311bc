/**
 * The client of the directory: its services as methods that answer or throw a CoordinationError,
 * with retries, request ids, the leader's address and the floors of law 19 taken care of.
 *
 * It knows no gRPC: channels, clock, timers and randomness come in, so that the simulator runs it
 * as it is. One client may be shared by a whole process.
 */

import type { GroupId, Revision } from "../base/brands.ts";
import { RECENT_REVISION_MS } from "../base/request-timing.ts";
import type { Prng } from "../base/prng.ts";
import type * as api from "../wire/api.ts";
import { reasonRow } from "../wire/errors.ts";
import { Caller, type CallOptions } from "./call.ts";
import type { ChannelFactory } from "./channel.ts";
import { CoordinationError, localRefusal } from "./errors.ts";
import {
  clusterMethods,
  directoryMethods,
  keyspacesMethods,
  type MethodCore,
  ownershipMethods,
  readStatus,
} from "./methods.ts";
import type { Clock, Timers } from "./ports.ts";
import { RequestIds } from "./request-ids.ts";
import type {
  ClientCluster,
  ClientDirectory,
  ClientKeyspaces,
  ClientOwnership,
  WatchInput,
} from "./requests.ts";
import { SeenRevisions } from "./seen-revisions.ts";
import { Servers } from "./servers.ts";
import { watchFrames, type WatchOptions } from "./watch.ts";

const DEFAULT_DEADLINE_MS = 5_000;
const BACKGROUND_STATUS_MS = 2_000;
/** How often an unknown leader's address is asked for. */
const STATUS_INTERVAL_MS = 10_000;

/** What a client is made of. */
export interface ClientOptions {
  /** Addresses of servers, at least one. Others are learnt from the cluster itself. */
  readonly endpoints: readonly string[];
  readonly channels: ChannelFactory;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Seeded differently in each process: jitter, and the client id if none is given. */
  readonly prng: Prng;
  /** Unique per process, 1 to 64 characters of [A-Za-z0-9_.-]. Default: made at random. */
  readonly clientId?: string | undefined;
  /** For calls that state none; 5,000 ms if left out. */
  readonly defaultDeadlineMs?: number | undefined;
}

/**
 * A client of one cluster. Methods mirror the services: they answer, or throw a
 * {@link CoordinationError} after following the contract's retry rules for as long as their
 * deadline allows. No answer is accepted that is older than what was seen before, or of another
 * cluster than the first one's.
 */
export class Client {
  readonly directory: ClientDirectory;
  readonly ownership: ClientOwnership;
  readonly keyspaces: ClientKeyspaces;
  readonly cluster: ClientCluster;
  readonly #options: ClientOptions;
  readonly #methods: MethodCore;
  readonly #servers: Servers;
  readonly #seen: SeenRevisions;
  readonly #ids: RequestIds;
  readonly #keyspaceGroups = new Map<string, GroupId>();
  readonly #closing = new AbortController();
  #lastStatusMs = Number.NEGATIVE_INFINITY;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#servers = new Servers(options);
    this.#seen = new SeenRevisions(options.clock);
    this.#ids = new RequestIds(options.clientId ?? randomClientId(options.prng));
    this.#methods = this.#core();
    this.directory = directoryMethods(this.#methods);
    this.ownership = ownershipMethods(this.#methods);
    this.keyspaces = keyspacesMethods(this.#methods);
    this.cluster = clusterMethods(this.#methods, (status) => this.#noteStatus(status));
  }

  /** Stands in every request id of this client. */
  get clientId(): string {
    return this.#ids.clientId;
  }

  /** The largest revision seen of a group; undefined: nothing was seen of it yet. */
  seenRevision(group: GroupId): Revision | undefined {
    return this.#seen.revision(group);
  }

  /**
   * A fresh request id for one mutation of a group, for callers that want to be able to ask again
   * after this call's deadline. Reads a revision of the group first unless a recent one was seen.
   *
   * Use it within ten minutes: after that the group refuses it with EXPIRED_ID, and so it does once
   * 1,000 later ids were made while no call with this one was under way. Until the call with it has
   * succeeded or been refused, or the id is abandoned, the group keeps the answers of all later ids
   * of this client.
   */
  async newRequestId(group: GroupId, options: CallOptions = {}): Promise<api.RequestId> {
    if (this.#seen.recentRevision(group, RECENT_REVISION_MS) === undefined) {
      this.#noteStatus(await readStatus(this.#methods, group, options));
    }
    const seenRevision = this.#seen.revision(group);
    if (seenRevision === undefined) {
      throw new CoordinationError({
        refusal: localRefusal(
          "NOT_FOUND",
          `no server names group ${group}; use a group that cluster.getStatus lists`,
          { metadata: { group: String(group) } },
        ),
        outcome: "notApplied",
        attempts: [],
        requestId: undefined,
      });
    }
    return this.#ids.make(group, seenRevision);
  }

  /** Says that nobody will ask for this id's answer any more. */
  abandonRequestId(group: GroupId, id: api.RequestId): void {
    this.#ids.abandon(group, id);
  }

  /**
   * Watches ranges: a snapshot or, with a resume token, what follows it, then every change in
   * order, none missed and none twice. Frames are always whole: snapshots and revisions that a
   * server cut are put together first, so every frame carries a token and may be acted upon.
   *
   * Goes on at another server, from the last token, when a stream ends or stays silent; there is no
   * deadline. Ends without an error when the signal is aborted. Throws a CoordinationError for what
   * no other server would answer differently: COMPACTED (with `failIfCompacted`), INVALID, DENIED,
   * NOT_FOUND, CLUSTER_MISMATCH.
   */
  watch(request: WatchInput = {}, options: WatchOptions = {}): AsyncIterable<api.WatchFrame> {
    const { clock, timers, prng } = this.#options;
    const { signal: closed } = this.#closing;
    const context = { servers: this.#servers, seen: this.#seen, clock, timers, prng, closed };
    return watchFrames(context, request, options);
  }

  /** Ends watches and calls under way, and closes all channels. */
  close(): void {
    this.#closing.abort();
    this.#servers.close();
  }

  #core(): MethodCore {
    const { clock, timers, prng } = this.#options;
    const defaultDeadlineMs = this.#options.defaultDeadlineMs ?? DEFAULT_DEADLINE_MS;
    const caller = new Caller({
      servers: this.#servers,
      seen: this.#seen,
      clock,
      timers,
      prng,
      defaultDeadlineMs,
      closed: this.#closing.signal,
    });
    return {
      call: async (spec, options) => {
        const answer = await caller.call(spec, options);
        this.#learnLeaderAddresses();
        return answer;
      },
      withRequestId: (given, group, options, run) =>
        this.#withRequestId(given, group, options, run),
      groupOfKeyspace: (keyspace, options) => this.#groupOfKeyspace(keyspace, options),
      knownGroupOfKeyspace: (keyspace) => this.#keyspaceGroups.get(keyspace),
      noteKeyspaces: (keyspaces) => {
        for (const { name, group } of keyspaces) this.#keyspaceGroups.set(name, group);
      },
    };
  }

  async #withRequestId<Answer>(
    given: api.RequestId | undefined,
    group: GroupId,
    options: CallOptions,
    run: (requestId: api.RequestId, options: CallOptions) => Promise<Answer>,
  ): Promise<Answer> {
    const { clock, defaultDeadlineMs = DEFAULT_DEADLINE_MS } = this.#options;
    const endMs = clock.nowMs() + (options.deadlineMs ?? defaultDeadlineMs);
    const left = (): CallOptions => ({
      ...options,
      deadlineMs: Math.max(0, endMs - clock.nowMs()),
    });
    for (;;) {
      const id = given ?? (await this.newRequestId(group, left()));
      this.#ids.begin(group, id);
      let isResolved = false;
      try {
        const answer = await run(id, left());
        isResolved = true;
        return answer;
      } catch (error) {
        if (!(error instanceof CoordinationError)) throw error;
        isResolved = isDecided(error, given === undefined);
        if (given !== undefined || !this.#hasExpiredUnused(error, group, id)) throw error;
      } finally {
        this.#ids.end(group, id, isResolved);
      }
    }
  }

  /**
   * Whether an id had expired before any attempt could have been applied: it was made from the
   * revision of a server that was far behind. Then nothing was run by it, and a new one may be made
   * from the revision that the refusal tells.
   */
  #hasExpiredUnused(error: CoordinationError, group: GroupId, id: api.RequestId): boolean {
    if (error.reason !== "EXPIRED_ID") return false;
    const earlier = error.attempts.slice(0, -1);
    if (earlier.some(({ reason }) => reasonRow(reason).outcome === "unknown")) return false;
    const revision = Number(error.refusal.metadata["revision"]);
    if (!Number.isSafeInteger(revision) || revision <= id.seenRevision) return false;
    this.#seen.observe(group, revision as Revision, true);
    return true;
  }

  async #groupOfKeyspace(keyspace: string, options: CallOptions): Promise<GroupId> {
    let pageToken = "";
    for (;;) {
      const known = this.#keyspaceGroups.get(keyspace);
      if (known !== undefined) return known;
      const page = await this.keyspaces.listKeyspaces({ pageToken }, options);
      pageToken = page.nextPageToken;
      if (pageToken === "" && !this.#keyspaceGroups.has(keyspace)) break;
    }
    throw new CoordinationError({
      refusal: localRefusal(
        "NOT_FOUND",
        `there is no keyspace ${keyspace}; create it first, or check the name`,
        { metadata: { keyspace } },
      ),
      outcome: "notApplied",
      attempts: [],
      requestId: undefined,
    });
  }

  #noteStatus(status: api.ClusterStatus): void {
    this.#servers.noteServers(status.servers);
    for (const { group, revision } of status.groups) this.#seen.observe(group, revision, true);
  }

  /** In the background, and rarely: a leader's address saves a hop, nothing depends on it. */
  #learnLeaderAddresses(): void {
    const nowMs = this.#options.clock.nowMs();
    if (!this.#servers.missesLeaderAddress) return;
    if (this.#closing.signal.aborted || nowMs - this.#lastStatusMs < STATUS_INTERVAL_MS) return;
    this.#lastStatusMs = nowMs;
    this.cluster.getStatus({}, { deadlineMs: BACKGROUND_STATUS_MS }).catch((error: unknown) => {
      if (!(error instanceof CoordinationError)) throw error;
    });
  }
}

/**
 * Whether nobody needs to ask for the id again: a server decided against it, or has forgotten it,
 * or it was never applied and the caller does not know it.
 */
function isDecided(error: CoordinationError, wasMadeHere: boolean): boolean {
  if (error.reason === "EXPIRED_ID") return true;
  if (error.outcome === "unknown") return false;
  return wasMadeHere || error.retry === "never" || error.retry === "refresh";
}

function randomClientId(prng: Prng): string {
  const word = (): string => prng.nextUint32().toString(16).padStart(8, "0");
  return `client-${word()}${word()}`;
}
