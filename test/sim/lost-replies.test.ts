// B32: the reply was lost, not the operation. Whole servers and real clients on virtual time: every
// mutation that carries a request id is applied once, whatever becomes of its answers (law 5). One
// without an id is not to be had: the library makes one, and the wire refuses its absence by name
// (test/wire/bounds.test.ts).
import { describe, expect, test } from "vitest";
import type { GroupId } from "../../src/base/brands.ts";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { failed } from "../../src/base/result.ts";
import type { Client } from "../../src/client/client.ts";
import { CoordinationError, localRefusal } from "../../src/client/errors.ts";
import type * as api from "../../src/wire/api.ts";
import { type Answer, VirtualClients } from "./virtual-clients.ts";
import { ROOT, SHARD, VirtualCluster } from "./virtual-cluster.ts";

const SETTINGS = {
  kind: "range",
  hashFunction: undefined,
  leaseMode: "exclusive",
  dataKind: "none",
  leaseDurationMs: 60_000,
  renewIntervalMs: 20_000,
} as const;
const UNAVAILABLE = failed(localRefusal("UNCERTAIN", "UNAVAILABLE: the connection was dropped"));

class World {
  readonly cluster = new VirtualCluster();
  readonly clients = new VirtualClients(this.cluster);
  readonly client: Client = this.clients.client("tester");

  run<T>(call: Promise<T>): Promise<T> {
    return this.cluster.result(call);
  }

  /** Keyspace "demo" of two ranges, the first owned by "a" with "b" next, and "fresh". */
  async start(): Promise<void> {
    await this.cluster.leader(ROOT);
    const { keyspaces, ownership } = this.client;
    for (const name of ["demo", "fresh"]) {
      await this.run(keyspaces.createKeyspace({ name, ...SETTINGS }));
    }
    const splitKeys = [utf8ToBytes("m")];
    await this.run(keyspaces.defineRanges({ keyspace: "demo", splitKeys }));
    for (const nodeId of ["a", "b"]) {
      const { incarnation } = await this.run(ownership.register(registration(nodeId)));
      const owner = { nodeId, incarnation };
      await this.run(ownership.openSession({ owner, group: SHARD }));
      const items = [{ ...(await this.expected(0)), nodeId, incarnation }];
      await this.run(ownership.grant({ group: SHARD, items, onlyUnowned: false }));
    }
  }

  async ranges(keyspace = "demo"): Promise<readonly api.RangeRecord[]> {
    return (await this.run(this.client.directory.listRanges({ keyspace }))).ranges;
  }

  async range(position: number): Promise<api.RangeRecord> {
    const range = (await this.ranges())[position];
    if (range === undefined) throw new Error(`there is no range ${position}`);
    return range;
  }

  async expected(position: number) {
    const { rangeId, epoch, descriptorRevision } = (await this.range(position)).descriptor;
    return { rangeId, expectedEpoch: epoch, expectedDescriptorRevision: descriptorRevision };
  }
}

function registration(nodeId: string) {
  const dataUuid = "0".repeat(32);
  return { nodeId, dataUuid, addresses: [`${nodeId}:1`], zone: "", labels: {}, capacity: 0 };
}

interface Mutated {
  readonly header: api.Header;
  readonly replayed: boolean;
}

/** Always the identical request, but for the id. */
type Mutate<A extends Mutated> = (more?: {
  readonly requestId?: api.RequestId;
  readonly deadlineMs?: number;
}) => Promise<A>;

interface Mutation<A extends Mutated> {
  readonly group: GroupId;
  readonly prepare: (world: World) => Promise<Mutate<A>>;
  /** What an answer says of its effect, and the state. */
  readonly told: (answer: A) => unknown;
  readonly effect: (world: World) => Promise<unknown>;
  /** What becomes of the same content under another id. */
  readonly anew: string;
}

const grant: Mutation<api.GrantAnswer> = {
  group: SHARD,
  prepare: async (world) => {
    const items = [{ ...(await world.expected(1)), nodeId: "a", incarnation: undefined }];
    const request = { group: SHARD, items, onlyUnowned: true };
    return ({ requestId, ...options } = {}) =>
      world.client.ownership.grant({ ...request, requestId }, options);
  },
  told: ({ outcomes }) => outcomes[0]?.range.descriptor,
  effect: async (world) => (await world.range(1)).descriptor,
  anew: "STALE_EPOCH",
};

const withdrawSuccessor: Mutation<api.WithdrawSuccessorAnswer> = {
  group: SHARD,
  prepare: async (world) => {
    const request = { group: SHARD, ...(await world.expected(0)) };
    return ({ requestId, ...options } = {}) =>
      world.client.ownership.withdrawSuccessor({ ...request, requestId }, options);
  },
  told: ({ range }) => range,
  effect: (world) => world.range(0),
  anew: "NOT_FOUND",
};

const defineRanges: Mutation<api.DefineRangesAnswer> = {
  group: SHARD,
  prepare: async ({ client }) => {
    const request = { keyspace: "fresh", splitKeys: ["d", "k"].map(utf8ToBytes) };
    return ({ requestId, ...options } = {}) =>
      client.keyspaces.defineRanges({ ...request, requestId }, options);
  },
  told: ({ header, rangeCount }) => Array.from({ length: rangeCount }, () => header.revision),
  effect: async (world) =>
    (await world.ranges("fresh")).map(({ descriptor }) => descriptor.descriptorRevision),
  // Nothing was granted in it, so the boundaries may be set again.
  anew: "applied",
};

const createKeyspace: Mutation<api.CreateKeyspaceAnswer> = {
  group: ROOT,
  prepare: async ({ client }) => {
    const request = { name: "other", ...SETTINGS };
    return ({ requestId, ...options } = {}) =>
      client.keyspaces.createKeyspace({ ...request, requestId }, options);
  },
  told: ({ keyspace }) => keyspace,
  effect: async (world) => {
    const { keyspaces } = await world.run(world.client.keyspaces.listKeyspaces({}));
    return keyspaces.find(({ name }) => name === "other");
  },
  anew: "ALREADY_EXISTS",
};

const register: Mutation<api.RegisterAnswer> = {
  group: ROOT,
  prepare: async ({ client }) => {
    return ({ requestId, ...options } = {}) =>
      client.ownership.register({ ...registration("c"), requestId }, options);
  },
  told: ({ incarnation }) => incarnation,
  effect: async (world) => {
    const { nodes } = await world.run(world.client.directory.listNodes({}));
    return nodes.find(({ nodeId }) => nodeId === "c")?.incarnation;
  },
  // Another process of the node looks like this.
  anew: "applied",
};

function suite<A extends Mutated>(method: string, mutation: Mutation<A>): void {
  async function begin(): Promise<{ world: World; mutate: Mutate<A> }> {
    const world = new World();
    await world.start();
    return { world, mutate: await mutation.prepare(world) };
  }

  /** The first answer, or all, to this method are lost after they were given. */
  function lose(world: World, which: "first" | "all", how: () => Answer | undefined): Answer[] {
    const given: Answer[] = [];
    world.clients.tamper = (call, answer) => {
      if (call.method !== method || (which === "first" && given.length > 0)) return answer;
      given.push(answer);
      return how();
    };
    return given;
  }

  /** It has what the lost answer told, and so has the state: nothing was done twice. */
  async function expectOnce(world: World, answer: A, lost: Answer | undefined): Promise<void> {
    if (lost?.ok !== true) throw new Error("an answer was given, and lost");
    const first = lost.value as A;
    expect([first.replayed, answer.replayed]).toEqual([false, true]);
    expect(answer.header.revision).toBe(first.header.revision);
    expect(mutation.told(answer)).toEqual(mutation.told(first));
    expect(await mutation.effect(world)).toEqual(mutation.told(first));
  }

  function idsSeen(world: World): Set<string> {
    const ids = world.clients.answeredOf(method).map(({ request }) => {
      const { clientId, sequence } = (request as { requestId: api.RequestId }).requestId;
      return `${clientId}/${sequence}`;
    });
    return new Set(ids);
  }

  test("the reply is dropped after the commit: the retry has the first answer", async () => {
    const { world, mutate } = await begin();
    const known = idsSeen(world).size;
    const lost = lose(world, "first", () => UNAVAILABLE);
    const answer = await world.run(mutate());
    await expectOnce(world, answer, lost[0]);
    expect(idsSeen(world).size).toBe(known + 1);
  });

  test("the leader is killed between the commit and the reply: the next one has it", async () => {
    const { world, mutate } = await begin();
    const leader = await world.cluster.leader(mutation.group);
    const lost = lose(world, "first", () => {
      world.cluster.crash(leader);
      return UNAVAILABLE;
    });
    const answer = await world.run(mutate({ deadlineMs: 20_000 }));
    expect(await world.cluster.leader(mutation.group)).not.toBe(leader);
    await expectOnce(world, answer, lost[0]);
  });

  test("no reply at all: UNCERTAIN with the id, by which its outcome is resolved later", async () => {
    const { world, mutate } = await begin();
    const lost = lose(world, "all", () => undefined);
    const failing = world.run(mutate({ deadlineMs: 3_000 })).catch((error: unknown) => error);
    const error = await failing;
    if (!(error instanceof CoordinationError)) throw new Error("it did not fail as it should");
    expect(error).toMatchObject({ reason: "UNCERTAIN", outcome: "unknown" });
    const { requestId } = error;
    if (requestId === undefined) throw new Error("the error names its request id");
    world.clients.tamper = (_call, answer) => answer;
    await expectOnce(world, await world.run(mutate({ requestId })), lost[0]);
  });

  test("another id with equal content is another request", async () => {
    const { world, mutate } = await begin();
    const first = await world.run(mutate());
    const second = await world.run(mutate()).catch((error: unknown) => error);
    if (second instanceof CoordinationError) {
      expect(second).toMatchObject({ reason: mutation.anew, outcome: "notApplied" });
      expect(await mutation.effect(world)).toEqual(mutation.told(first));
      return;
    }
    expect(mutation.anew).toBe("applied");
    const answer = second as A;
    expect(answer.replayed).toBe(false);
    expect(answer.header.revision).toBeGreaterThan(first.header.revision);
    expect(await mutation.effect(world)).toEqual(mutation.told(answer));
  });
}

describe("B32: grant", () => suite("grant", grant));
describe("B32: withdrawSuccessor", () => suite("withdrawSuccessor", withdrawSuccessor));
describe("B32: defineRanges", () => suite("defineRanges", defineRanges));
describe("B32: createKeyspace", () => suite("createKeyspace", createKeyspace));
describe("B32: register", () => suite("register", register));
