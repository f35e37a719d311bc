// B32 over real gRPC: the connection ends after the commit and before the reply, which gRPC reports
// as UNAVAILABLE. A shard machine stands behind the service, so that "applied" means just that.
import { expect, test } from "vitest";
import {
  type Incarnation,
  type LogIndex,
  type LogTimeMs,
  type Revision,
  ROOT_GROUP,
  type Term,
} from "../../../src/base/brands.ts";
import { ok } from "../../../src/base/result.ts";
import type { CoordinationError } from "../../../src/client/errors.ts";
import type { ShardAnswer } from "../../../src/machine/shard/answers.ts";
import type { ShardCommand } from "../../../src/machine/shard/commands.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import type { RangeRecord } from "../../../src/machine/shard/types.ts";
import type * as api from "../../../src/wire/api.ts";
import type { OwnershipService } from "../../../src/wire/api-services.ts";
import { GROUP } from "../../machine/shard/harness.ts";
import { startProxy } from "../net/support.ts";
import { realClient } from "../support/clients.ts";
import { SAMPLES } from "../../wire/arbitraries.ts";
import { HEADER, onCleanup, sample, startHarness } from "./harness.ts";

const HEADER_0 = { ...HEADER, generation: 0 };

/** A shard with one range and a node, whose grants are applied before anything can be lost. */
class Shard {
  readonly ids: api.RequestId[] = [];
  readonly #machine = new ShardMachine(GROUP);

  constructor() {
    const terms = { keyspaceId: 1, name: "demo", leaseDurationMs: 60_000, renewIntervalMs: 20_000 };
    const kinds = { leaseMode: "exclusive", dataKind: "none" } as const;
    this.#apply({ kind: "createKeyspace", terms: { ...terms, ...kinds } });
    const incarnation = 1 as Incarnation;
    const process = { nodeId: "a", incarnation, provenSince: incarnation, addresses: [] };
    this.#apply({ kind: "openSession", ...process });
  }

  get range(): RangeRecord {
    const [slot] = this.#machine.state.rangesById.values();
    if (slot === undefined) throw new Error("there is a range");
    return slot.record;
  }

  /** Answers like the service; `onCommitted` runs between the commit and the reply. */
  grant(onCommitted: () => void): OwnershipService["grant"] {
    return async ({ requestId, items, onlyUnowned, handOver }) => {
      this.ids.push(requestId);
      const command = { kind: "grant", items, onlyUnowned, handOver } as const;
      const { revision, replayed } = this.#apply(command, requestId);
      onCommitted();
      return ok({ header: { ...HEADER_0, revision }, outcomes: [], replayed });
    };
  }

  #apply(command: ShardCommand, requestId?: api.RequestId): ShardAnswer {
    const index = (this.#machine.revision + 1) as LogIndex;
    const meta = { index, term: 1 as Term, timeMs: 0 as LogTimeMs };
    const { answer } = this.#machine.apply(meta, { requestId, command });
    if (answer === undefined || answer.result.kind === "refused") throw new Error("it is applied");
    return answer;
  }
}

/** A status that tells a revision to make ids from, and no other servers. */
const STATUS: api.ClusterStatus = {
  ...sample(SAMPLES.cluster.getStatus.answer),
  header: { ...HEADER_0, group: ROOT_GROUP },
  servers: [],
  groups: sample(SAMPLES.cluster.getStatus.answer)
    .groups.slice(0, 1)
    .map((group) => ({ ...group, group: GROUP, revision: 2 as Revision })),
};

interface World {
  readonly shard: Shard;
  readonly grant: (more: {
    readonly requestId?: api.RequestId;
    readonly deadlineMs: number;
  }) => Promise<api.GrantAnswer>;
}

async function worldOf(isLost: (attempt: number) => boolean): Promise<World> {
  const shard = new Shard();
  let attempts = 0;
  let cut = (): void => {};
  const { server } = await startHarness({
    ownership: { grant: shard.grant(() => isLost(++attempts) && cut()) },
    cluster: { getStatus: async () => ok(STATUS) },
  });
  const proxy = await startProxy(server.address);
  cut = () => proxy.cut();
  const client = realClient([proxy.address], "tester");
  onCleanup(() => {
    client.close();
    proxy.close();
  });
  const { rangeId, epoch, descriptorRevision } = shard.range;
  const expected = { expectedEpoch: epoch, expectedDescriptorRevision: descriptorRevision };
  const items = [{ rangeId, ...expected, nodeId: "a", incarnation: undefined }];
  return {
    shard,
    grant: ({ requestId, deadlineMs }) =>
      client.ownership.grant({ group: GROUP, items, onlyUnowned: true, requestId }, { deadlineMs }),
  };
}

test("B32: UNAVAILABLE after the commit is retried with the same id, and applied once", async () => {
  const { shard, grant } = await worldOf((attempt) => attempt === 1);
  const answer = await grant({ deadlineMs: 10_000 });
  expect(answer.replayed).toBe(true);
  expect(answer.header.revision).toBe(shard.range.epoch);
  expect(shard.ids).toHaveLength(2);
  expect(shard.ids[1]).toEqual(shard.ids[0]);
});

test("B32: UNAVAILABLE until the deadline is UNCERTAIN, with the id that resolves it", async () => {
  let isDown = true;
  const { shard, grant } = await worldOf(() => isDown);
  const error = await grant({ deadlineMs: 1_000 }).then(
    () => undefined,
    (failure: unknown) => failure as CoordinationError,
  );
  expect(error).toMatchObject({ reason: "UNCERTAIN", outcome: "unknown" });
  const { epoch } = shard.range;
  expect(epoch).toBeGreaterThan(0);
  isDown = false;
  const requestId = error?.requestId;
  if (requestId === undefined) throw new Error("the error names its request id");
  const answer = await grant({ requestId, deadlineMs: 10_000 });
  expect([answer.replayed, answer.header.revision]).toEqual([true, epoch]);
  expect(shard.range.epoch).toBe(epoch);
});
