/**
 * A long life in a short time: renewals and grants through three real servers until the log has
 * been compacted many times over. Disk and memory stay bounded, and a restart takes no longer for
 * all that went before. SOAK_REQUESTS=5000000 is the long form.
 */

import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { Revision } from "../../../src/base/brands.ts";
import type { Client } from "../../../src/client/client.ts";
import { CoordinationError } from "../../../src/client/errors.ts";
import type { Owner } from "../../../src/wire/api.ts";
import { realClient } from "../support/clients.ts";
import { delay, RealCluster } from "../support/real-cluster.ts";
import { SENT_AGAIN } from "../../sent-again.ts";

const REQUESTS = Number(process.env["SOAK_REQUESTS"] ?? 10_000);
/** The short form compacts as often as the long one does with the usual bounds. */
const STORAGE = { checkpointBytesMin: 16_384, logTrailingBytes: 16_384 };
const IS_SHORT = REQUESTS < 100_000;
const CONFIG = IS_SHORT ? { storage: STORAGE } : {};
const SHARD = 1 as never;
const KEYSPACE = "long";
/** The next checkpoint waits for as much log as the last one's file has: a small state, then. */
const RANGES = IS_SHORT ? 500 : 2_000;
const OWNERS = 100;
/** In flight from each kind of client. */
const RENEWERS = 128;
const GRANTERS = 64;
/** Of every ten requests, how many are grants; the rest are renewals. */
const GRANTS_IN_TEN = 1;
const SAMPLES = 20;
/**
 * Per server: two write buffers of LevelDB, the kept log twice (before and after a compaction of
 * its files), snapshots old and new.
 */
const DISK_BYTES_MAX = 256 * 2 ** 20;
/** Per server: in all, and beyond what it took after the first tenth. */
const MEMORY_BYTES_MAX = 640 * 2 ** 20;
const MEMORY_GROWTH_BYTES_MAX = 192 * 2 ** 20;
/** Beyond what it took after half: the watch history, with its 100,000 changes, is full by then. */
const LATE_GROWTH_BYTES_MAX = 128 * 2 ** 20;
/** From the kill on, with a start of the process, until the server has caught up. */
const RESTART_MS_MAX = 5_000;
/** Of each server. */
const CHECKPOINTS_MIN = 3;

interface Sample {
  readonly requests: number;
  readonly seconds: number;
  readonly diskBytes: readonly number[];
  readonly memoryBytes: readonly number[];
}

test(
  `${REQUESTS} renewals and grants: disk and memory stay bounded, a restart stays short`,
  async () => {
    const cluster = await RealCluster.start(3, CONFIG);
    const load = new Load(cluster);
    try {
      await load.prepare();
      const samples = await load.run();
      const checkpoints = await load.checkpoints();
      const startedAtMs = performance.now();
      await cluster.kill(2);
      await cluster.startServer(2);
      await cluster.waitReady([2]);
      const restartMs = performance.now() - startedAtMs;
      process.stdout.write(
        `${table(samples)}\n${checkpoints.join(" ")} checkpoints; ` +
          `server 2 killed and ready again: ${restartMs.toFixed(0)} ms\n`,
      );
      expect(Math.min(...checkpoints)).toBeGreaterThanOrEqual(CHECKPOINTS_MIN);
      expect(restartMs).toBeLessThan(RESTART_MS_MAX);
      const early = samples[Math.ceil(SAMPLES / 10)] as Sample;
      const half = samples[SAMPLES / 2] as Sample;
      for (const { diskBytes, memoryBytes } of samples) {
        expect(Math.max(...diskBytes)).toBeLessThan(DISK_BYTES_MAX);
        memoryBytes.forEach((bytes, at) => {
          expect(bytes).toBeLessThan(MEMORY_BYTES_MAX);
          expect(bytes - (early.memoryBytes[at] ?? 0)).toBeLessThan(MEMORY_GROWTH_BYTES_MAX);
          expect(bytes - (half.memoryBytes[at] ?? 0)).toBeLessThan(LATE_GROWTH_BYTES_MAX);
        });
      }
    } finally {
      load.stop();
      await cluster.stop();
    }
  },
  REQUESTS + 240_000,
);

class Load {
  readonly #cluster: RealCluster;
  readonly #clients: readonly Client[];
  readonly #owners: Owner[] = [];
  #rangeIds: readonly string[] = [];
  #done = 0;
  #renewals = 0;
  #grants = 0;
  #failures = 0;

  constructor(cluster: RealCluster) {
    this.#cluster = cluster;
    this.#clients = [0, 1, 2, 3].map((at) => realClient(cluster.endpoints, `long-${at}`));
  }

  async prepare(): Promise<void> {
    const [admin] = this.#clients as [Client];
    const kind = { kind: "range", hashFunction: undefined, leaseMode: "exclusive" } as const;
    const lease = { leaseDurationMs: 600_000, renewIntervalMs: 1_000 } as const;
    await admin.keyspaces.createKeyspace({ name: KEYSPACE, ...kind, dataKind: "none", ...lease });
    const splitKeys = Array.from({ length: RANGES - 1 }, (_, at) =>
      utf8ToBytes(`k${String(at + 1).padStart(6, "0")}`),
    );
    await admin.keyspaces.defineRanges({ keyspace: KEYSPACE, splitKeys });
    for (let at = 0; at < OWNERS; at++) {
      const nodeId = `n${at}`;
      const { incarnation } = await admin.ownership.register({
        nodeId,
        dataUuid: String(at).padStart(32, "0"),
        addresses: ["127.0.0.1:1"],
        zone: "",
        labels: {},
        capacity: 0,
      });
      const owner = { nodeId, incarnation };
      await admin.ownership.openSession({ owner, group: SHARD });
      this.#owners.push(owner);
    }
    const { ranges } = await admin.directory.listRanges({ keyspace: KEYSPACE, pageSize: RANGES });
    this.#rangeIds = ranges.map(({ descriptor }) => descriptor.rangeId);
  }

  async run(): Promise<Sample[]> {
    const samples: Sample[] = [];
    const startedAtMs = performance.now();
    const workers = [
      ...Array.from({ length: RENEWERS }, (_, at) => this.#renewLoop(at)),
      ...Array.from({ length: GRANTERS }, (_, at) => this.#grantLoop(at)),
    ];
    while (this.#done < REQUESTS) {
      if (this.#done >= (samples.length * REQUESTS) / SAMPLES) {
        samples.push(await this.#sample((performance.now() - startedAtMs) / 1_000));
      }
      await delay(100);
    }
    await Promise.all(workers);
    samples.push(await this.#sample((performance.now() - startedAtMs) / 1_000));
    process.stdout.write(
      `${this.#renewals} renewals and ${this.#grants} grants and releases in ` +
        `${((performance.now() - startedAtMs) / 1_000).toFixed(0)} s, ${this.#failures} failed\n`,
    );
    return samples;
  }

  /** Taken of the shard by each server. */
  async checkpoints(): Promise<number[]> {
    const series = `cadastre_checkpoints_total{group="1",result="taken"}`;
    const ids = this.#cluster.servers.map(({ id }) => id);
    return await Promise.all(ids.map(async (id) => (await this.#cluster.metric(id, series)) ?? 0));
  }

  stop(): void {
    for (const client of this.#clients) client.close();
  }

  async #renewLoop(worker: number): Promise<void> {
    const client = this.#clients[worker % this.#clients.length] as Client;
    for (let turn = 0; this.#done < REQUESTS; turn++) {
      const owner = this.#owners[(worker + turn * RENEWERS) % OWNERS] as Owner;
      const asOf = client.seenRevision(SHARD) ?? (0 as Revision);
      const renewal = { owner, group: SHARD, asOf, except: [], ...SENT_AGAIN };
      const answer = client.ownership.renew(renewal);
      if (await this.#counts(answer)) this.#renewals++;
    }
  }

  /** Each worker has ranges of its own, and moves them from one owner to the next. */
  async #grantLoop(worker: number): Promise<void> {
    const client = this.#clients[worker % this.#clients.length] as Client;
    const rangeIds = this.#rangeIds.filter((_, at) => at % GRANTERS === worker);
    for (let turn = 0; this.#done < REQUESTS; turn++) {
      // Grants are the slower ones: let them keep their share of the whole, no more.
      if (this.#grants * 10 > this.#done * GRANTS_IN_TEN) {
        await delay(5);
        continue;
      }
      const rangeId = rangeIds[turn % rangeIds.length] as string;
      const { range } = await client.directory.getRange({ rangeId }, { deadlineMs: 20_000 });
      const { descriptor } = range;
      if (descriptor.owner !== undefined) {
        const { owner, epoch } = descriptor;
        const ranges = [{ rangeId, epoch }];
        const answer = client.ownership.release({ owner, group: SHARD, ranges });
        if (await this.#counts(answer)) this.#grants++;
        continue;
      }
      const item = {
        rangeId,
        nodeId: (this.#owners[(worker + turn) % OWNERS] as Owner).nodeId,
        expectedEpoch: descriptor.epoch,
        expectedDescriptorRevision: descriptor.descriptorRevision,
        incarnation: undefined,
      };
      const answer = client.ownership.grant({ group: SHARD, items: [item], onlyUnowned: false });
      if (await this.#counts(answer)) this.#grants++;
    }
  }

  async #counts(answer: Promise<unknown>): Promise<boolean> {
    try {
      await answer;
      this.#done++;
      return true;
    } catch (error) {
      if (!(error instanceof CoordinationError)) throw error;
      this.#failures++;
      return false;
    }
  }

  async #sample(seconds: number): Promise<Sample> {
    const ids = this.#cluster.servers.map(({ id }) => id);
    return {
      requests: this.#done,
      seconds,
      diskBytes: await Promise.all(ids.map((id) => folderBytes(this.#cluster.dataDir(id)))),
      memoryBytes: await Promise.all(ids.map((id) => residentBytes(this.#cluster.pid(id)))),
    };
  }
}

/** Files may go while they are counted. */
async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      if (!entry.isFile()) return 0;
      const { size } = await stat(path.join(entry.parentPath, entry.name)).catch(() => ({
        size: 0,
      }));
      return size;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024;
}

function table(samples: readonly Sample[]): string {
  const mib = (bytes: readonly number[]): string =>
    bytes.map((one) => (one / 2 ** 20).toFixed(0).padStart(5)).join("");
  const rows = samples.map(
    ({ requests, seconds, diskBytes, memoryBytes }) =>
      `${String(requests).padStart(9)} ${seconds.toFixed(0).padStart(6)} ` +
      `${mib(diskBytes)} ${mib(memoryBytes)}`,
  );
  return [" requests      s  disk MiB       resident MiB", ...rows].join("\n");
}
