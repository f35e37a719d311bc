/**
 * A watcher that checks what it gets: frames in order, whole revisions, none twice and none missed,
 * and a table of ranges that follows from them. Resumes on another server with its last token.
 */

import { assert, defined } from "../../../src/base/assert.ts";
import type { Revision, ServerId } from "../../../src/base/brands.ts";
import type { Result } from "../../../src/base/result.ts";
import { WHOLE_SPAN } from "../../../src/base/span.ts";
import type { RangeRecord, Refusal, WatchFrame, WatchRequest } from "../../../src/wire/api.ts";
import type { VirtualCluster } from "../../sim/virtual-cluster.ts";
import { services } from "./harness.ts";

type Stream = AsyncIterator<Result<WatchFrame, Refusal>>;

export function watchRequest(more: Partial<WatchRequest> = {}): WatchRequest {
  return {
    keyspace: "demo",
    span: WHOLE_SPAN,
    nodeId: undefined,
    resumeToken: undefined,
    failIfCompacted: false,
    ...more,
  };
}

export function open(
  cluster: VirtualCluster,
  id: ServerId,
  more: Partial<WatchRequest> = {},
  signal?: AbortSignal,
): Stream {
  const context = signal === undefined ? {} : { signal };
  const stream = services(cluster, id).directory.watch(watchRequest(more), context);
  return stream[Symbol.asyncIterator]();
}

/** The next frame, however long it takes on virtual time. */
export async function pull(cluster: VirtualCluster, stream: Stream): Promise<WatchFrame> {
  const next = await cluster.result(stream.next());
  if (next.done === true) throw new Error("the stream has ended silently");
  if (!next.value.ok) throw new Error(`refused: ${next.value.error.message}`);
  return next.value.value;
}

/** The refusal that ends the stream; frames before it are dropped. */
export async function endOf(cluster: VirtualCluster, stream: Stream): Promise<Refusal> {
  for (;;) {
    const next = await cluster.result(stream.next());
    if (next.done === true) throw new Error("the stream has ended silently");
    if (!next.value.ok) {
      const after = await cluster.result(stream.next());
      assert(after.done === true, "a refusal is a stream's last word");
      return next.value.error;
    }
  }
}

export class WatchTable {
  readonly records = new Map<string, RangeRecord>();
  /** Everything up to here is in the table. */
  revision = 0 as Revision;
  token: Uint8Array | undefined;
  snapshots = 0;
  progressCount = 0;
  readonly revisions: Revision[] = [];
  readonly #cluster: VirtualCluster;
  readonly #filter: Partial<WatchRequest>;
  #stream: Stream | undefined;
  #incoming: RangeRecord[] = [];
  #cutRevision: Revision | undefined;

  constructor(cluster: VirtualCluster, filter: Partial<WatchRequest> = {}) {
    this.#cluster = cluster;
    this.#filter = filter;
  }

  /** Opens at a server, after the last token if there is one. */
  attach(id: ServerId): void {
    assert(this.#cutRevision === undefined, "these tests break streams between revisions");
    this.#incoming = [];
    this.#stream = open(this.#cluster, id, { ...this.#filter, resumeToken: this.token });
  }

  async detach(): Promise<void> {
    await this.#cluster.result(Promise.resolve(defined(this.#stream, "attached").return?.()));
  }

  async take(): Promise<WatchFrame> {
    const frame = await pull(this.#cluster, defined(this.#stream, "attached"));
    this.#apply(frame);
    return frame;
  }

  /** Takes frames until everything up to a revision is in the table. */
  async reach(revision: Revision): Promise<void> {
    while (this.revision < revision || this.#cutRevision !== undefined) await this.take();
  }

  /** In key order. */
  get table(): RangeRecord[] {
    return [...this.records.values()].toSorted((a, b) =>
      Buffer.compare(a.descriptor.span.startKey, b.descriptor.span.startKey),
    );
  }

  #apply(frame: WatchFrame): void {
    assert(frame.header.revision >= this.revision, "frames never go back");
    switch (frame.kind) {
      case "snapshot":
        this.#applySnapshot(frame);
        break;
      case "changes":
        this.#applyChanges(frame);
        break;
      case "progress":
        assert(frame.resumeToken !== undefined, "progress carries a token");
        this.progressCount++;
        this.revision = frame.header.revision;
    }
    if (frame.resumeToken !== undefined) {
      this.token = frame.resumeToken;
      this.revision = frame.header.revision;
    }
  }

  #applySnapshot(frame: Extract<WatchFrame, { readonly kind: "snapshot" }>): void {
    assert(frame.first === (this.#incoming.length === 0), "a snapshot has one first frame");
    assert(frame.last === (frame.resumeToken !== undefined), "its last frame carries the token");
    this.#incoming.push(...frame.ranges);
    if (!frame.last) return;
    this.records.clear();
    for (const record of this.#incoming) this.records.set(record.descriptor.rangeId, record);
    this.#incoming = [];
    this.snapshots++;
  }

  #applyChanges(frame: Extract<WatchFrame, { readonly kind: "changes" }>): void {
    assert(frame.continues === (frame.resumeToken === undefined), "a cut revision has no token");
    for (const { revision, changes } of frame.revisions) {
      const isRest = revision === this.#cutRevision;
      assert(isRest || revision > this.revision, "a revision comes once, after those before it");
      if (!isRest) this.revisions.push(revision);
      this.#cutRevision = undefined;
      for (const { before, after } of changes) {
        const { rangeId } = defined(before ?? after, "a change has a record").descriptor;
        if (after === undefined) this.records.delete(rangeId);
        else this.records.set(rangeId, after);
      }
    }
    if (frame.continues) this.#cutRevision = frame.revisions.at(-1)?.revision;
  }
}
