// A metadata shard reduced to what law 8 is about: two ranges, one owner that is tested ("us"),
// another one, a log of entries, and log time. What is due ends before every entry (law 9).
import type * as api from "../../src/wire/api.ts";
import { spansOverlap } from "../../src/base/span.ts";
import type { SentRenewal } from "../../src/fence/renewal.ts";
import { changesFrame, header, progressFrame, record, snapshotFrame } from "../client/support.ts";
import { revision } from "./support.ts";

export const LEASE_MS = 3_000;

interface ModelRange {
  readonly id: string;
  readonly start: string;
  readonly end: string;
  epoch: number;
  node: string | undefined;
  deadlineMs: number;
  successor: string | undefined;
  /** When the owner was asked to hand over to it; 0: it was not. */
  handOver: number;
}

export class ServiceModel {
  /** Log time: what the leader's clock has measured. */
  logTimeMs = 0;
  revision = 10;
  readonly ranges: ModelRange[] = [
    {
      id: "r0",
      start: "",
      end: "m",
      epoch: 0,
      node: undefined,
      deadlineMs: 0,
      successor: undefined,
      handOver: 0,
    },
    {
      id: "r1",
      start: "m",
      end: "",
      epoch: 0,
      node: undefined,
      deadlineMs: 0,
      successor: undefined,
      handOver: 0,
    },
  ];
  /** Frames that the watch of node n1 has not delivered yet. */
  readonly frames: api.WatchFrame[] = [];
  /** What a renewal's answer reports, for ever. */
  readonly #holdChanges: api.HoldChange[] = [];
  #changes: api.RangeChange[] = [];

  record(range: ModelRange): api.RangeRecord {
    const { epoch, id, start, end, node, successor, handOver } = range;
    const fields = { id, start, end, epoch, node, handOver, revision: this.revision };
    return record(successor === undefined ? fields : { ...fields, successor });
  }

  /** Whether anybody else may get the range from now on, by the service's own clock. */
  isGrantedToUs(id: string, epoch: number): boolean {
    const range = this.ranges.find((one) => one.id === id);
    return range?.node === "n1" && range.epoch === epoch && range.deadlineMs > this.logTimeMs;
  }

  remainingMs(id: string): number {
    const range = this.ranges.find((one) => one.id === id);
    return (range?.deadlineMs ?? 0) - this.logTimeMs;
  }

  /** An entry without an effect of its own. */
  expire(): void {
    this.#entry(() => {});
  }

  /** An unowned range is granted; for an owned one the successor is recorded. */
  grant(index: number, node: string, handOver = false): void {
    this.#entry(() => {
      const range = this.#range(index);
      if (range.node === undefined) return this.#grant(range, node);
      if (range.node === node || range.successor !== undefined) return;
      this.#change(range, "successorSet", () => {
        range.successor = node;
        range.handOver = handOver ? this.revision : 0;
      });
    });
  }

  withdrawSuccessor(index: number): void {
    this.#entry(() => {
      const range = this.#range(index);
      if (range.successor === undefined) return;
      this.#change(range, "successorLifted", () => {
        range.successor = undefined;
        range.handOver = 0;
      });
    });
  }

  /** By n1. With `handOver`, only for the successor that was asked for then. */
  release(id: string, epoch: number, handOver = 0): api.ItemOutcome["refused"] {
    let refused: api.ItemOutcome["refused"];
    this.#entry(() => {
      const range = this.ranges.find((one) => one.id === id);
      if (range?.epoch !== epoch) refused = "STALE_EPOCH";
      else if (range.node !== "n1") refused = "NOT_OWNER";
      else if (handOver !== 0 && range.handOver !== handOver) refused = "NO_SUCCESSOR";
      else {
        const { successor } = range;
        this.#end(range, "released");
        if (successor !== undefined) this.#grant(range, successor);
      }
    });
    return refused;
  }

  renew(sent: SentRenewal): api.RenewAnswer {
    this.#entry(() => {
      for (const range of this.ranges) {
        if (range.node !== "n1" || range.epoch > sent.asOf || range.successor !== undefined)
          continue;
        const { span } = this.record(range).descriptor;
        if (sent.except.some((except) => spansOverlap(except.span, span))) continue;
        range.deadlineMs = Math.max(range.deadlineMs, this.logTimeMs + LEASE_MS);
      }
    });
    return {
      header: header({ revision: this.revision }),
      durations: [{ keyspace: "k", durationMs: LEASE_MS, renewIntervalMs: LEASE_MS / 3 }],
      changes: this.#holdChanges.filter((change) => change.revision > sent.asOf),
    };
  }

  progress(): void {
    this.frames.push(progressFrame(this.revision));
  }

  /** The watch lost its place: what was not delivered is replaced by a snapshot. */
  restartWatch(): void {
    this.frames.length = 0;
    const ranges = this.ranges.filter(({ node, successor }) => [node, successor].includes("n1"));
    this.frames.push(
      snapshotFrame(
        this.revision,
        ranges.map((range) => this.record(range)),
      ),
    );
  }

  #range(index: number): ModelRange {
    const range = this.ranges[index % this.ranges.length];
    if (range === undefined) throw new Error("there are two ranges");
    return range;
  }

  #entry(effect: () => void): void {
    this.revision++;
    for (const range of this.ranges) {
      if (range.node === undefined || range.deadlineMs > this.logTimeMs) continue;
      const { successor } = range;
      this.#end(range, "expired");
      if (successor !== undefined) this.#grant(range, successor);
    }
    effect();
    const changes = this.#changes.filter(({ before, after }) =>
      [before, after].some((one) =>
        [one?.descriptor.owner?.nodeId, one?.successor?.nodeId].includes("n1"),
      ),
    );
    this.#changes = [];
    if (changes.length > 0) this.frames.push(changesFrame([[this.revision, changes]]));
  }

  #grant(range: ModelRange, node: string): void {
    this.#change(range, "granted", () => {
      range.node = node;
      range.epoch = this.revision;
      range.deadlineMs = this.logTimeMs + LEASE_MS;
      range.successor = undefined;
      range.handOver = 0;
    });
  }

  #end(range: ModelRange, kind: "expired" | "released"): void {
    this.#change(range, kind, () => {
      range.node = undefined;
      range.successor = undefined;
      range.handOver = 0;
    });
  }

  #change(range: ModelRange, kind: api.HoldChangeKind, act: () => void): void {
    const before = this.record(range);
    act();
    const after = this.record(range);
    this.#changes.push({ before, after, cause: kind });
    const reported = kind === "expired" || kind === "released" ? before : after;
    if (reported.descriptor.owner?.nodeId !== "n1") return;
    this.#holdChanges.push({ kind, revision: revision(this.revision), range: reported });
  }
}
