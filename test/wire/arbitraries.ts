// Random values of every request and answer of the public API, in the form that they have inside:
// defaults filled in, open ends undefined. One pair per method, so that the compiler asks for a new
// one when a method is added.
import * as fc from "fast-check";
import {
  type Epoch,
  GENERATION_LIMIT,
  type GroupId,
  type Incarnation,
  type Revision,
  type ServerId,
  type Term,
} from "../../src/base/brands.ts";
import { type Bytes, compareBytes, EMPTY_BYTES } from "../../src/base/bytes.ts";
import { isValidSpan, type Span, WHOLE_SPAN } from "../../src/base/span.ts";
import type * as api from "../../src/wire/api.ts";
import type { ApiServices, ServerStream, Unary } from "../../src/wire/api-services.ts";
import { LEASE_MS_MAX, LEASE_MS_MIN, RENEW_MS_MIN } from "../../src/wire/limits.ts";

export type Samples = {
  readonly [S in keyof ApiServices]: {
    readonly [M in keyof ApiServices[S]]: SamplesOf<ApiServices[S][M]>;
  };
};

type SamplesOf<Method> =
  Method extends Unary<infer Request, infer Answer>
    ? Pair<Request, Answer>
    : Method extends ServerStream<infer Request, infer Frame>
      ? Pair<Request, Frame>
      : never;

interface Pair<Request, Answer> {
  readonly request: fc.Arbitrary<Request>;
  readonly answer: fc.Arbitrary<Answer>;
}

/** Both ends of the range are where mistakes are. */
function whole<T extends number>(min = 0, max = Number.MAX_SAFE_INTEGER): fc.Arbitrary<T> {
  return fc.oneof(
    fc.integer({ min, max }),
    fc.constantFrom(min, max),
  ) as unknown as fc.Arbitrary<T>;
}

const UINT32_LARGEST = 2 ** 32 - 2;
const uint32 = <T extends number>(min = 0): fc.Arbitrary<T> => whole<T>(min, UINT32_LARGEST);
const group = uint32<GroupId>();
const revision = whole<Revision>();
const epoch = whole<Epoch>();
const name = fc.stringMatching(/^[A-Za-z0-9_.-]{1,64}$/);
const nameOrNone = fc.option(name, { nil: undefined });
const key = fc.oneof(
  { weight: 20, arbitrary: fc.uint8Array({ maxLength: 24 }) },
  { weight: 2, arbitrary: fc.constant(EMPTY_BYTES) },
  { weight: 1, arbitrary: fc.constant(new Uint8Array(4_096).fill(255)) },
);
const endKey = fc.option(
  key.filter((one) => one.length > 0),
  { nil: undefined },
);
const span: fc.Arbitrary<Span> = fc.record({ startKey: key, endKey }).filter(isValidSpan);
const list = <T>(item: fc.Arbitrary<T>, minLength = 0): fc.Arbitrary<T[]> =>
  fc.array(item, { minLength, maxLength: 4 });
const text = fc.string({ maxLength: 30 });

const header: fc.Arbitrary<api.Header> = fc.record({
  clusterId: name,
  group,
  generation: whole<number>(0, GENERATION_LIMIT - 1),
  revision,
  serverId: uint32<ServerId>(),
  leaderServerId: fc.option(uint32<ServerId>(1), { nil: undefined }),
  term: whole<Term>(),
});

const requestId: fc.Arbitrary<api.RequestId> = fc
  .record({ clientId: name, sequence: whole<number>(1), seenRevision: revision })
  .chain((id) =>
    whole<number>(0, id.sequence).map((acknowledgedBelow) => ({ ...id, acknowledgedBelow })),
  );

const owner: fc.Arbitrary<api.Owner> = fc.record({
  nodeId: name,
  incarnation: whole<Incarnation>(1),
});
const ownerOrNone = fc.option(owner, { nil: undefined });

export const descriptor: fc.Arbitrary<api.Descriptor> = fc.record({
  rangeId: name,
  keyspace: name,
  span,
  epoch,
  owner: ownerOrNone,
  replicas: list(fc.record({ nodeId: name, inSync: fc.boolean() })),
  descriptorRevision: revision,
  group,
});

const address = fc.stringMatching(/^[\x21-\x7e]{1,256}$/);
const addresses = list(address);
const route: fc.Arbitrary<api.Route> = fc.record({
  descriptor,
  addresses,
  intendedNodeId: nameOrNone,
});

const range: fc.Arbitrary<api.RangeRecord> = fc.record({
  descriptor,
  successor: ownerOrNone,
  intendedNodeId: nameOrNone,
  acceptedEpoch: epoch,
  handOverRevision: revision,
});

const read: fc.Arbitrary<api.ReadOptions> = fc.oneof(
  fc.constant({ kind: "linearizable" } as const),
  fc.record({ kind: fc.constant("atLeast" as const), revision }),
  fc.constant({ kind: "local" } as const),
);

const staleness: fc.Arbitrary<api.Staleness | undefined> = fc.option(
  fc.record({
    revisions: whole<number>(),
    confirmedMsAgo: fc.option(uint32<number>(), { nil: undefined }),
  }),
  { nil: undefined },
);

const page = { pageSize: whole<number>(1, 10_000), pageToken: text };
const labels = fc
  .uniqueArray(fc.tuple(fc.stringMatching(/^[a-z][A-Za-z0-9_.-]{0,20}$/), text), {
    maxLength: 4,
    selector: ([label]) => label,
  })
  .map((pairs) => Object.fromEntries(pairs));

const watchRequest: fc.Arbitrary<api.WatchRequest> = fc
  .record({
    keyspace: nameOrNone,
    span,
    nodeId: nameOrNone,
    resumeToken: fc.option(fc.uint8Array({ minLength: 1, maxLength: 40 }), { nil: undefined }),
    failIfCompacted: fc.boolean(),
  })
  .map((one) => (one.keyspace === undefined ? { ...one, span: WHOLE_SPAN } : one));

const cause = fc.constantFrom<api.Cause>(
  "keyspaceCreated",
  "rangesDefined",
  "imported",
  "granted",
  "released",
  "expired",
  "successorSet",
  "successorLifted",
  "accepted",
  "restarted",
);
const rangeOrNone = fc.option(range, { nil: undefined });
const frameHead = {
  header,
  resumeToken: fc.option(fc.uint8Array({ minLength: 1, maxLength: 40 }), { nil: undefined }),
};
const watchFrame: fc.Arbitrary<api.WatchFrame> = fc.oneof(
  fc.record({
    ...frameHead,
    kind: fc.constant("snapshot" as const),
    ranges: list(range),
    first: fc.boolean(),
    last: fc.boolean(),
    afterCompaction: fc.boolean(),
  }),
  fc.record({
    ...frameHead,
    kind: fc.constant("changes" as const),
    revisions: list(
      fc.record({
        revision: whole<Revision>(1),
        changes: list(fc.record({ before: rangeOrNone, after: rangeOrNone, cause })),
      }),
    ),
    continues: fc.boolean(),
  }),
  fc.record({ ...frameHead, kind: fc.constant("progress" as const) }),
);

const durations = list(
  fc.record({
    keyspace: name,
    durationMs: uint32<number>(1),
    renewIntervalMs: uint32<number>(1),
  }),
);
const rangeEpochs = fc.record({
  owner,
  group,
  ranges: list(fc.record({ rangeId: name, epoch: whole<Epoch>(1) }), 1),
});
const outcomes = fc.record({
  header,
  outcomes: list(
    fc.record({
      rangeId: name,
      refused: fc.constantFrom(
        undefined,
        "STALE_EPOCH",
        "NOT_OWNER",
        "NOT_FOUND",
        "SESSION_CLOSED",
        "NO_SUCCESSOR",
      ),
      currentEpoch: epoch,
    }),
  ),
});

const renewalPair = fc.record({ sequence: whole<number>(1), nonce: whole<number>() });

const ascendingKeys = fc
  .uniqueArray(key, { maxLength: 6, comparator: (a, b) => compareBytes(a, b) === 0 })
  .map((keys) => keys.toSorted(compareBytes));

const keyspaceChoice = fc
  .record({
    kind: fc.constantFrom<api.KeyspaceKind>("range", "hash"),
    leaseMode: fc.constantFrom<api.LeaseMode>("exclusive", "affinity"),
    dataKind: fc.constantFrom<api.DataKind>("none", "shared", "local"),
    leaseDurationMs: whole<number>(LEASE_MS_MIN, LEASE_MS_MAX),
  })
  .chain((choice) =>
    whole<number>(RENEW_MS_MIN, Math.floor(choice.leaseDurationMs / 3)).map((renewIntervalMs) => ({
      ...choice,
      hashFunction: choice.kind === "hash" ? ("given" as const) : undefined,
      renewIntervalMs,
    })),
  );

const keyspaceRecord: fc.Arbitrary<api.KeyspaceRecord> = fc
  .tuple(
    keyspaceChoice,
    fc.record({
      name,
      keyspaceId: whole<number>(),
      state: fc.constantFrom<api.KeyspaceRecord["state"]>("creating", "ready"),
      group,
      createdRevision: revision,
      rangeCount: whole<number>(),
      unownedCount: whole<number>(),
    }),
  )
  .map(([choice, rest]) => ({ ...choice, ...rest }));

const stageImportRequest: fc.Arbitrary<api.StageImportRequest> = fc
  .record({ keyspace: name, importId: name, part: uint32<number>(), keys: ascendingKeys })
  .chain(({ keyspace, importId, part, keys }) => {
    const inner = keys.filter((one) => one.length > 0);
    const starts: Bytes[] = part === 0 ? [EMPTY_BYTES, ...inner] : [new Uint8Array(1), ...inner];
    const distinct = starts.filter(
      (one, at) => starts.findIndex((other) => compareBytes(one, other) === 0) === at,
    );
    const rows = distinct
      .toSorted(compareBytes)
      .map((startKey) => nameOrNone.map((intendedNodeId) => ({ startKey, intendedNodeId })));
    return fc.tuple(...rows).map((all) => ({ keyspace, importId, part, rows: all }));
  });

export const SAMPLES: Samples = {
  directory: {
    lookup: {
      request: fc.record({ keyspace: name, key, read }),
      answer: fc.record({ header, route, staleness }),
    },
    lookupBatch: {
      request: fc.record({ keyspace: name, keys: list(key, 1), read }),
      answer: fc.record({ header, routes: list(route, 1), staleness }).chain((answer) =>
        fc.record({
          header: fc.constant(answer.header),
          routes: fc.constant(answer.routes),
          routeOfKey: list(fc.nat({ max: answer.routes.length - 1 })),
          staleness: fc.constant(answer.staleness),
        }),
      ),
    },
    getRange: {
      request: fc.record({ rangeId: name, read }),
      answer: fc.record({ header, range, leaseRemainingMs: whole<number>(), addresses, staleness }),
    },
    listRanges: {
      request: fc.record({
        keyspace: name,
        span,
        nodeId: nameOrNone,
        unownedOnly: fc.boolean(),
        ...page,
        read,
      }),
      answer: fc.record({ header, ranges: list(range), nextPageToken: text, staleness }),
    },
    listNodes: {
      request: fc.record(page),
      answer: fc.record({
        header,
        nodes: list(
          fc.record({
            nodeId: name,
            incarnation: whole<Incarnation>(1),
            addresses,
            zone: fc.oneof(name, fc.constant("")),
            labels,
            capacity: whole<number>(),
            sessionOpen: fc.boolean(),
            rangesOwned: whole<number>(),
            sessionRemainingMs: whole<number>(),
          }),
        ),
        nextPageToken: text,
      }),
    },
    watch: { request: watchRequest, answer: watchFrame },
  },
  ownership: {
    register: {
      request: fc.record({
        requestId,
        nodeId: name,
        dataUuid: fc.stringMatching(/^[0-9a-f]{32}$/),
        addresses: list(address, 1),
        zone: fc.oneof(name, fc.constant("")),
        labels,
        capacity: whole<number>(),
        start: fc.option(
          fc.record({
            bootId: fc.stringMatching(/^[0-9a-f]{32}$/),
            lockFile: fc.stringMatching(/^\d{1,20}:\d{1,20}$/),
            startCount: whole<number>(1),
          }),
          { nil: undefined },
        ),
      }),
      answer: fc.record({
        header,
        incarnation: whole<Incarnation>(1),
        shardGroups: list(uint32<GroupId>(1)),
        replayed: fc.boolean(),
        predecessor: fc.option(whole<Incarnation>(1), { nil: undefined }),
        proven: fc.boolean(),
      }),
    },
    openSession: {
      request: fc.record({ owner, group }),
      answer: fc.record({ header, alreadyOpen: fc.boolean(), durations }),
    },
    accept: { request: rangeEpochs, answer: outcomes },
    renew: {
      request: fc.record({
        owner,
        group,
        asOf: revision,
        except: list(fc.record({ keyspace: name, span })),
        pair: renewalPair,
        known: list(renewalPair),
      }),
      answer: fc.record({
        header,
        durations,
        changes: list(
          fc.record({
            revision: whole<Revision>(1),
            kind: fc.constantFrom<api.HoldChangeKind>(
              "granted",
              "released",
              "expired",
              "successorSet",
              "successorLifted",
            ),
            range,
          }),
        ),
      }),
    },
    grant: {
      request: fc.record({
        requestId,
        group,
        items: fc.uniqueArray(
          fc.record({
            rangeId: name,
            expectedEpoch: epoch,
            expectedDescriptorRevision: whole<Revision>(1),
            nodeId: name,
            incarnation: fc.option(whole<Incarnation>(1), { nil: undefined }),
          }),
          { minLength: 1, maxLength: 4, selector: (item) => item.rangeId },
        ),
        onlyUnowned: fc.boolean(),
        handOver: fc.boolean(),
      }),
      answer: fc.record({
        header,
        outcomes: list(
          fc.record({
            rangeId: name,
            kind: fc.constantFrom<api.GrantOutcome["kind"]>(
              "granted",
              "successorRecorded",
              "alreadyOwner",
            ),
            range,
            leaseDurationMs: uint32<number>(),
            waitMs: whole<number>(),
          }),
        ),
        replayed: fc.boolean(),
      }),
    },
    withdrawSuccessor: {
      request: fc.record({
        requestId,
        group,
        rangeId: name,
        expectedEpoch: whole<Epoch>(1),
        expectedDescriptorRevision: whole<Revision>(1),
      }),
      answer: fc.record({ header, range, replayed: fc.boolean() }),
    },
    release: {
      request: fc.record({
        owner,
        group,
        ranges: list(
          fc.record({
            rangeId: name,
            epoch: whole<Epoch>(1),
            handOverRevision: fc.option(whole<Revision>(1), { nil: undefined }),
          }),
          1,
        ),
      }),
      answer: outcomes,
    },
  },
  keyspaces: {
    createKeyspace: {
      request: fc
        .tuple(keyspaceChoice, fc.record({ requestId, name }))
        .map(([choice, rest]) => ({ ...choice, ...rest })),
      answer: fc.record({ header, keyspace: keyspaceRecord, replayed: fc.boolean() }),
    },
    listKeyspaces: {
      request: fc.record(page),
      answer: fc.record({ header, keyspaces: list(keyspaceRecord), nextPageToken: text }),
    },
    defineRanges: {
      request: fc.record({
        requestId,
        keyspace: name,
        splitKeys: ascendingKeys.map((keys) => keys.filter((one) => one.length > 0)),
      }),
      answer: fc.record({ header, rangeCount: whole<number>(), replayed: fc.boolean() }),
    },
    stageImport: {
      request: stageImportRequest,
      answer: fc.record({ header, stagedRows: whole<number>(), expiresInMs: whole<number>() }),
    },
    commitImport: {
      request: fc.record({ keyspace: name, importId: name, rowCount: whole<number>(1) }),
      answer: fc.record({ header, rangeCount: whole<number>(), grantedCount: whole<number>() }),
    },
    abortImport: {
      request: fc.record({ keyspace: name, importId: name }),
      answer: fc.record({ header }),
    },
  },
  cluster: {
    getStatus: {
      request: fc.constant({}),
      answer: fc.record({
        header,
        clusterName: text,
        productVersion: text,
        uptimeMs: whole<number>(),
        servers: list(
          fc.record({
            serverId: uint32<ServerId>(1),
            grpcAddress: address,
            peerAddress: address,
            httpAddress: address,
            reachable: fc.boolean(),
          }),
        ),
        abstention: fc.option(fc.record({ reason: name, details: text }), { nil: undefined }),
        groups: list(
          fc.record({
            group,
            role: fc.constantFrom<api.GroupStatus["role"]>(
              "leader",
              "follower",
              "candidate",
              "preCandidate",
            ),
            term: whole<Term>(),
            leaderServerId: fc.option(uint32<ServerId>(1), { nil: undefined }),
            commitIndex: whole<number>(),
            appliedIndex: whole<number>(),
            lastIndex: whole<number>(),
            revision,
            logEntries: whole<number>(),
            logBytes: whole<number>(),
            snapshotIndex: whole<number>(),
            replicas: list(
              fc.record({
                serverId: uint32<ServerId>(1),
                replicaId: whole<number>(1),
                matchIndex: whole<number>(),
              }),
            ),
          }),
        ),
      }),
    },
  },
};

interface LoosePair {
  readonly request: fc.Arbitrary<unknown>;
  readonly answer: fc.Arbitrary<unknown>;
}

/** The samples of a method of the list of rows. */
export function samplesOf(service: keyof ApiServices, method: string): LoosePair {
  const pair = (SAMPLES[service] as unknown as Record<string, LoosePair | undefined>)[method];
  if (pair === undefined) throw new Error(`no samples of ${service}.${method}`);
  return pair;
}
