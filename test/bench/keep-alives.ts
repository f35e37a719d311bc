/**
 * The peer's leases kept alive, each once in every interval, over a few streams to the leader.
 */

import type { Client, ClientDuplexStream } from "@grpc/grpc-js";
import type { BackgroundLoad } from "./bench.ts";
import { connectMany } from "./connections.ts";
import { callEtcd, LEASE } from "./etcd-api.ts";
import { inParallel } from "./grant-pool.ts";
import { Pacer } from "./pacer.ts";
import { eventually } from "./processes.ts";

const CONNECTIONS = 8;
const CALL_TIMEOUT_MS = 10_000;
const UNANSWERED_MAX = 4_096;
/** As long as the leases on the other side. */
const TTL_SECONDS = 600;

type Stream = ClientDuplexStream<{ readonly id: number }, { readonly ttlSeconds: string }>;

let lastLeaseId = 0;

export class KeepAlives implements BackgroundLoad {
  readonly #clients: readonly Client[];
  readonly #leaseIds: readonly number[];
  readonly #pacer: Pacer;
  #streams: readonly Stream[] = [];
  #startedAtMs = 0;
  #sent = 0;
  #answered = 0;
  #failed: string | undefined;

  private constructor(clients: readonly Client[], leaseIds: readonly number[], intervalMs: number) {
    this.#clients = clients;
    this.#leaseIds = leaseIds;
    this.#pacer = new Pacer(leaseIds.length, intervalMs, (at) => this.#keepAlive(at));
  }

  static async make(address: string, count: number, intervalMs: number): Promise<KeepAlives> {
    const clients = connectMany(address, CONNECTIONS);
    const leaseIds = Array.from({ length: count }, () => ++lastLeaseId);
    await inParallel(leaseIds, async (id) => {
      const client = clients[id % CONNECTIONS];
      if (client === undefined) return;
      await callEtcd(client, LEASE.LeaseGrant, { ttlSeconds: TTL_SECONDS, id }, CALL_TIMEOUT_MS);
    });
    return new KeepAlives(clients, leaseIds, intervalMs);
  }

  start(): void {
    this.#sent = 0;
    this.#answered = 0;
    this.#streams = this.#clients.map((client) => this.#open(client));
    this.#startedAtMs = performance.now();
    this.#pacer.start();
  }

  async stop(): Promise<number> {
    this.#pacer.stop();
    const seconds = (performance.now() - this.#startedAtMs) / 1_000;
    const perSecond = this.#answered / seconds;
    await eventually("all keep-alives are answered", CALL_TIMEOUT_MS, () =>
      this.#answered >= this.#sent || this.#failed !== undefined ? true : undefined,
    );
    for (const stream of this.#streams) stream.end();
    if (this.#failed !== undefined) throw new Error(`a keep-alive failed: ${this.#failed}`);
    return perSecond;
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  #open(client: Client): Stream {
    const { path, requestSerialize, responseDeserialize } = LEASE.LeaseKeepAlive;
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    stream.on("data", ({ ttlSeconds }: { readonly ttlSeconds: string }) => {
      this.#answered++;
      if (ttlSeconds === "0") this.#failed ??= "the lease is gone";
    });
    stream.on("error", (error: Error) => (this.#failed ??= error.message));
    return stream;
  }

  /** Left out while too many are unanswered: a peer that cannot keep up shows as a lower rate. */
  #keepAlive(at: number): void {
    if (this.#sent - this.#answered >= UNANSWERED_MAX) return;
    this.#sent++;
    this.#streams[at % CONNECTIONS]?.write({ id: this.#leaseIds[at] ?? 0 });
  }
}
