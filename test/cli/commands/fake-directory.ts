// An in-memory directory behind the ApiServices, good enough for the verbs: keyspaces, ranges,
// nodes with sessions, grants with preconditions, staged imports. One group, one server, no time:
// leases do not run out. A test may replace any method, and sees every request that was sent.
import type {
  Epoch,
  GroupId,
  Incarnation,
  Revision,
  ServerId,
  Term,
} from "../../../src/base/brands.ts";
import { type Bytes, compareBytes, EMPTY_BYTES, utf8ToBytes } from "../../../src/base/bytes.ts";
import { failed, ok, type Result } from "../../../src/base/result.ts";
import { type Span, spanContains, spansOverlap } from "../../../src/base/span.ts";
import type * as api from "../../../src/wire/api.ts";
import type { ApiServices } from "../../../src/wire/api-services.ts";
import type { Reason } from "../../../src/wire/errors.ts";

const SHARD = 1 as GroupId;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
type MutableServices = { [Service in keyof ApiServices]: Mutable<ApiServices[Service]> };

export function refusal(reason: Reason, message: string): api.Refusal {
  return {
    reason,
    message,
    metadata: {},
    field: undefined,
    retryAfterMs: undefined,
    descriptors: [],
  };
}

export class FakeDirectory {
  readonly services: MutableServices;
  /** Names of the methods that were called, in order. */
  readonly calls: string[] = [];
  readonly keyspaces = new Map<string, api.KeyspaceRecord>();
  readonly ranges = new Map<string, api.RangeRecord[]>();
  readonly nodes = new Map<string, api.NodeRecord>();
  readonly staged = new Map<string, api.ImportRow[]>();
  readonly grantRequests: api.GrantRequest[] = [];
  readonly stageRequests: api.StageImportRequest[] = [];
  /** What a watch sends, after which it stays open. */
  frames: api.WatchFrame[] = [];
  readonly watchRequests: api.WatchRequest[] = [];
  onWatch: () => void = () => undefined;
  #revision = 100;

  constructor() {
    this.services = this.#makeServices();
  }

  header(): api.Header {
    return {
      clusterId: "c1",
      group: SHARD,
      generation: 0,
      revision: this.#revision as Revision,
      serverId: 1 as ServerId,
      leaderServerId: 1 as ServerId,
      term: 3 as Term,
    };
  }

  /** A ready keyspace with boundaries at these keys. */
  addKeyspace(
    name: string,
    splitKeys: readonly (string | Bytes)[] = [],
    kind: api.KeyspaceKind = "range",
  ): void {
    const revision = ++this.#revision;
    this.keyspaces.set(name, {
      name,
      keyspaceId: this.keyspaces.size + 1,
      kind,
      hashFunction: kind === "hash" ? "given" : undefined,
      leaseMode: "exclusive",
      dataKind: "local",
      leaseDurationMs: 10_000,
      renewIntervalMs: 3_333,
      state: "ready",
      group: SHARD,
      createdRevision: revision as Revision,
      rangeCount: 0,
      unownedCount: 0,
    });
    this.#setRanges(
      name,
      [EMPTY_BYTES, ...splitKeys].map((key) => ({
        startKey: typeof key === "string" ? utf8ToBytes(key) : key,
        intendedNodeId: undefined,
      })),
    );
  }

  addNode(nodeId: string, options: { readonly sessionOpen?: boolean } = {}): void {
    const { sessionOpen = true } = options;
    this.nodes.set(nodeId, {
      nodeId,
      incarnation: (this.nodes.size + 11) as Incarnation,
      addresses: [`${nodeId}.example:7000`],
      zone: "z1",
      labels: {},
      capacity: 0,
      sessionOpen,
      rangesOwned: 0,
      sessionRemainingMs: sessionOpen ? 7_250 : 0,
    });
  }

  /** Gives a range away behind everybody's back. */
  setOwner(rangeId: string, nodeId: string | undefined): void {
    const epoch = ++this.#revision;
    const incarnation = this.nodes.get(nodeId ?? "")?.incarnation ?? (1 as Incarnation);
    this.#change(rangeId, (range) => ({
      ...range,
      descriptor: {
        ...range.descriptor,
        owner: nodeId === undefined ? undefined : { nodeId, incarnation },
        epoch: (nodeId === undefined ? range.descriptor.epoch : epoch) as Epoch,
        descriptorRevision: epoch as Revision,
      },
    }));
  }

  setIntended(rangeId: string, nodeId: string): void {
    this.#change(rangeId, (range) => ({ ...range, intendedNodeId: nodeId }));
  }

  range(rangeId: string): api.RangeRecord | undefined {
    return this.#allRanges().find((range) => range.descriptor.rangeId === rangeId);
  }

  #allRanges(): api.RangeRecord[] {
    return [...this.ranges.values()].flat();
  }

  #change(rangeId: string, edit: (range: api.RangeRecord) => api.RangeRecord): void {
    for (const [keyspace, ranges] of this.ranges) {
      this.ranges.set(
        keyspace,
        ranges.map((range) => (range.descriptor.rangeId === rangeId ? edit(range) : range)),
      );
    }
  }

  #setRanges(keyspace: string, rows: readonly api.ImportRow[]): void {
    const revision = ++this.#revision;
    const sorted = rows.toSorted((a, b) => compareBytes(a.startKey, b.startKey));
    const ranges = sorted.map(({ startKey, intendedNodeId }, at): api.RangeRecord => {
      const span: Span = { startKey, endKey: sorted[at + 1]?.startKey };
      return {
        descriptor: {
          rangeId: `1.${revision}.${at}`,
          keyspace,
          span,
          epoch: 0 as Epoch,
          owner: undefined,
          replicas: [],
          descriptorRevision: revision as Revision,
          group: SHARD,
        },
        successor: undefined,
        intendedNodeId,
        acceptedEpoch: 0 as Epoch,
        handOverRevision: 0 as Revision,
      };
    });
    this.ranges.set(keyspace, ranges);
  }

  #makeServices(): MutableServices {
    const noted = <Request, Answer>(
      name: string,
      run: (request: Request) => Result<Answer, api.Refusal>,
    ): ((request: Request) => Promise<Result<Answer, api.Refusal>>) => {
      return (request) => {
        this.calls.push(name);
        return Promise.resolve(run(request));
      };
    };
    const done = noted("acknowledged", () => ok({ header: this.header() }));
    return {
      directory: {
        lookup: noted("lookup", (request) => this.#lookup(request)),
        lookupBatch: noted("lookupBatch", () => failed(refusal("INTERNAL", "not in this fake"))),
        getRange: noted("getRange", ({ rangeId }) => this.#getRange(rangeId)),
        listRanges: noted("listRanges", (request) => this.#listRanges(request)),
        listNodes: noted("listNodes", () => {
          const nodes = [...this.nodes.values()];
          return ok({ header: this.header(), nodes, nextPageToken: "" });
        }),
        watch: (request, context) => this.#watch(request, context.signal),
      },
      ownership: {
        register: noted("register", () => failed(refusal("INTERNAL", "not in this fake"))),
        openSession: noted("openSession", () => failed(refusal("INTERNAL", "not in this fake"))),
        accept: noted("accept", () => failed(refusal("INTERNAL", "not in this fake"))),
        renew: noted("renew", () => failed(refusal("INTERNAL", "not in this fake"))),
        grant: noted("grant", (request) => this.#grant(request)),
        withdrawSuccessor: noted("withdrawSuccessor", ({ rangeId }) => this.#withdraw(rangeId)),
        release: noted("release", (request) => this.#release(request)),
      },
      keyspaces: {
        createKeyspace: noted("createKeyspace", (request) => this.#createKeyspace(request)),
        listKeyspaces: noted("listKeyspaces", () => {
          const keyspaces = [...this.keyspaces.values()].map((one) => this.#counted(one));
          return ok({ header: this.header(), keyspaces, nextPageToken: "" });
        }),
        defineRanges: noted("defineRanges", ({ keyspace, splitKeys }) => {
          const starts = [EMPTY_BYTES, ...splitKeys];
          const rows = starts.map((startKey) => ({ startKey, intendedNodeId: undefined }));
          this.#setRanges(keyspace, rows);
          return ok({ header: this.header(), rangeCount: rows.length, replayed: false });
        }),
        stageImport: noted("stageImport", (request) => this.#stage(request)),
        commitImport: noted("commitImport", (request) => this.#commit(request)),
        abortImport: (request) => {
          this.staged.delete(request.importId);
          this.calls.push("abortImport");
          return done(request);
        },
      },
      cluster: { getStatus: noted("getStatus", () => ok(this.status())) },
    };
  }

  status(): api.ClusterStatus {
    const { revision } = this.header();
    const serverId = 1 as ServerId;
    const replicas = [{ serverId, replicaId: 1, matchIndex: this.#revision }];
    const group = (id: number): api.GroupStatus => ({
      group: id as GroupId,
      role: "leader",
      term: 3 as Term,
      leaderServerId: serverId,
      commitIndex: this.#revision,
      appliedIndex: this.#revision,
      lastIndex: this.#revision,
      revision,
      logEntries: this.#revision,
      logBytes: 100,
      snapshotIndex: 0,
      replicas,
    });
    return {
      header: this.header(),
      clusterName: "test",
      productVersion: "0.1.0",
      uptimeMs: 65_000,
      servers: [
        { serverId, grpcAddress: "s1:1", peerAddress: "", httpAddress: "", reachable: true },
      ],
      groups: [group(0), group(1)],
      abstention: undefined,
    };
  }

  #counted(keyspace: api.KeyspaceRecord): api.KeyspaceRecord {
    const ranges = this.ranges.get(keyspace.name) ?? [];
    const unowned = ranges.filter(({ descriptor }) => descriptor.owner === undefined);
    return { ...keyspace, rangeCount: ranges.length, unownedCount: unowned.length };
  }

  #lookup(request: api.LookupRequest): Result<api.LookupAnswer, api.Refusal> {
    const ranges = this.ranges.get(request.keyspace) ?? [];
    const found = ranges.find(({ descriptor }) => spanContains(descriptor.span, request.key));
    if (found === undefined) return failed(refusal("NOT_FOUND", "no such keyspace"));
    const { descriptor, intendedNodeId } = found;
    const addresses = this.nodes.get(descriptor.owner?.nodeId ?? "")?.addresses ?? [];
    const staleness =
      request.read.kind === "local" ? { revisions: 2, confirmedMsAgo: 40 } : undefined;
    return ok({
      header: this.header(),
      staleness,
      route: { descriptor, addresses, intendedNodeId },
    });
  }

  #getRange(rangeId: string): Result<api.GetRangeAnswer, api.Refusal> {
    const range = this.range(rangeId);
    if (range === undefined) return failed(refusal("NOT_FOUND", `no range ${rangeId}`));
    const { owner } = range.descriptor;
    return ok({
      header: this.header(),
      staleness: undefined,
      range,
      leaseRemainingMs: owner === undefined ? 0 : 8_200,
      addresses: this.nodes.get(owner?.nodeId ?? "")?.addresses ?? [],
    });
  }

  #listRanges(request: api.ListRangesRequest): Result<api.ListRangesAnswer, api.Refusal> {
    const from = request.pageToken === "" ? 0 : Number(request.pageToken);
    const matching = (this.ranges.get(request.keyspace) ?? []).filter(({ descriptor }) => {
      const { nodeId } = request;
      if (!spansOverlap(descriptor.span, request.span)) return false;
      if (request.unownedOnly && descriptor.owner !== undefined) return false;
      return nodeId === undefined || descriptor.owner?.nodeId === nodeId;
    });
    const size = request.pageSize === 0 ? 1_000 : request.pageSize;
    const end = from + size;
    return ok({
      header: this.header(),
      staleness: undefined,
      ranges: matching.slice(from, end),
      nextPageToken: end < matching.length ? String(end) : "",
    });
  }

  async *#watch(
    request: api.WatchRequest,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Result<api.WatchFrame, api.Refusal>> {
    this.watchRequests.push(request);
    this.onWatch();
    for (const frame of this.frames) yield ok(frame);
    await new Promise<void>((resolve) => {
      if (signal?.aborted === true) resolve();
      signal?.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #grant(request: api.GrantRequest): Result<api.GrantAnswer, api.Refusal> {
    this.grantRequests.push(request);
    for (const item of request.items) {
      const range = this.range(item.rangeId);
      if (range === undefined) return failed(refusal("NOT_FOUND", `no range ${item.rangeId}`));
      const { epoch, descriptorRevision, owner } = range.descriptor;
      if (epoch !== item.expectedEpoch || descriptorRevision !== item.expectedDescriptorRevision) {
        return failed(refusal("STALE_EPOCH", `range ${item.rangeId} is at epoch ${epoch}`));
      }
      if (request.onlyUnowned && owner !== undefined) {
        return failed(refusal("LEASE_HELD", `range ${item.rangeId} is owned`));
      }
    }
    const outcomes = request.items.map((item) => this.#grantOne(item, request.handOver));
    return ok({ header: this.header(), outcomes, replayed: false });
  }

  #grantOne({ rangeId, nodeId }: api.GrantItem, handOver: boolean): api.GrantOutcome {
    const owner = this.range(rangeId)?.descriptor.owner;
    const incarnation = this.nodes.get(nodeId)?.incarnation ?? (1 as Incarnation);
    const kind =
      owner === undefined
        ? "granted"
        : owner.nodeId === nodeId
          ? "alreadyOwner"
          : "successorRecorded";
    if (kind === "granted") this.setOwner(rangeId, nodeId);
    if (kind === "successorRecorded") {
      const handOverRevision = (handOver ? 300 : 0) as Revision;
      const successor = { nodeId, incarnation };
      this.#change(rangeId, (one) => ({ ...one, successor, handOverRevision }));
    }
    const range = this.range(rangeId);
    if (range === undefined) throw new Error("granted a range that is not there");
    const waitMs = kind === "successorRecorded" ? 8_200 : 0;
    return { rangeId, kind, range, leaseDurationMs: 10_000, waitMs };
  }

  #withdraw(rangeId: string): Result<api.WithdrawSuccessorAnswer, api.Refusal> {
    this.#change(rangeId, (range) => ({ ...range, successor: undefined }));
    const range = this.range(rangeId);
    if (range === undefined) return failed(refusal("NOT_FOUND", `no range ${rangeId}`));
    return ok({ header: this.header(), range, replayed: false });
  }

  #release(request: api.RangeEpochsRequest): Result<api.RangeEpochsAnswer, api.Refusal> {
    const outcomes = request.ranges.map(({ rangeId, epoch }): api.ItemOutcome => {
      const present = this.range(rangeId)?.descriptor;
      if (present === undefined) {
        return { rangeId, refused: "NOT_FOUND", currentEpoch: 0 as Epoch };
      }
      if (present.epoch !== epoch) {
        return { rangeId, refused: "STALE_EPOCH", currentEpoch: present.epoch };
      }
      this.setOwner(rangeId, undefined);
      return { rangeId, refused: undefined, currentEpoch: epoch };
    });
    return ok({ header: this.header(), outcomes });
  }

  #createKeyspace(
    request: api.CreateKeyspaceRequest,
  ): Result<api.CreateKeyspaceAnswer, api.Refusal> {
    if (this.keyspaces.has(request.name)) {
      return failed(refusal("ALREADY_EXISTS", `keyspace ${request.name} exists`));
    }
    this.addKeyspace(request.name, [], request.kind);
    const { requestId: _requestId, ...settings } = request;
    const made = this.keyspaces.get(request.name);
    if (made === undefined) throw new Error("a keyspace was not made");
    this.keyspaces.set(request.name, { ...made, ...settings });
    const keyspace = this.#counted({ ...made, ...settings });
    return ok({ header: this.header(), keyspace, replayed: false });
  }

  #stage(request: api.StageImportRequest): Result<api.StageImportAnswer, api.Refusal> {
    this.stageRequests.push(request);
    const rows = [...(this.staged.get(request.importId) ?? []), ...request.rows];
    this.staged.set(request.importId, rows);
    return ok({ header: this.header(), stagedRows: rows.length, expiresInMs: 600_000 });
  }

  #commit(request: api.CommitImportRequest): Result<api.CommitImportAnswer, api.Refusal> {
    const rows = this.staged.get(request.importId) ?? [];
    if (rows.length !== request.rowCount) {
      return failed(refusal("IMPORT_INCOMPLETE", `${rows.length} rows are staged`));
    }
    this.#setRanges(request.keyspace, rows);
    return ok({ header: this.header(), rangeCount: rows.length, grantedCount: 0 });
  }
}
