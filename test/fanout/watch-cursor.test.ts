/**
 * Watches over random lives of a real shard: whatever the filter, the pulls, the frame sizes and
 * the points at which they break off and resume, a table built from the frames is the filtered
 * state at the revision of every token, and no revision is missed or told twice (law 21).
 */

import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import type { GroupId, Revision } from "../../src/base/brands.ts";
import type { Prng } from "../../src/base/prng.ts";
import { WHOLE_SPAN } from "../../src/base/span.ts";
import { filterFingerprint, matchesRecord, type WatchFilter } from "../../src/fanout/filter.ts";
import { decodeToken, encodeToken } from "../../src/fanout/tokens.ts";
import { type CursorFrame, WatchCursor } from "../../src/fanout/watch-cursor.ts";
import type { RangeRecord } from "../../src/machine/shard/types.ts";
import { inShort, ShardRun } from "./shard-run.ts";

const ENTRIES = 170;

/** A client: builds its table from frames, and knows only what frames and tokens tell. */
class Watcher {
  readonly filter: WatchFilter;
  readonly #run: ShardRun;
  readonly #options: { readonly frameBytesMax: number; readonly failIfCompacted: boolean };
  readonly #seen: Set<string>;
  readonly #table = new Map<string, RangeRecord>();
  #token: Uint8Array | undefined;
  #cursor: WatchCursor;
  /** The table is the state at this revision; undefined inside a snapshot. */
  #toldUpTo: number | undefined;
  #cutRevision: number | undefined;

  constructor(
    run: ShardRun,
    filter: WatchFilter,
    options: { readonly frameBytesMax: number; readonly failIfCompacted: boolean },
    seen: Set<string>,
  ) {
    this.#run = run;
    this.filter = filter;
    this.#options = options;
    this.#seen = seen;
    this.#cursor = this.#open();
  }

  /** Pulls some frames; then may say how far it is, or break off and come back with its token. */
  act(prng: Prng): void {
    for (let pulls = prng.nextInteger(0, 4); pulls > 0; pulls--) if (!this.#pull()) break;
    if (prng.chance(0.1)) {
      this.#seen.add("resumed");
      this.#cursor = this.#open();
      this.#cutRevision = undefined;
    }
  }

  catchUp(): void {
    for (let pulls = 0; this.#pull(); pulls++) expect(pulls).toBeLessThan(10_000);
    expect(this.#cursor.isBehind).toBe(false);
    const { revision } = this.#cursor.progress();
    expect(revision).toBe(this.#run.revision);
    this.#checkTable(revision);
  }

  /** False when there is nothing more to say. */
  #pull(): boolean {
    const frame = this.#cursor.next();
    if (frame === undefined) {
      this.#toldUpTo = this.#run.revision;
      this.#take(this.#cursor.progress());
      return false;
    }
    this.#take(frame);
    return true;
  }

  #take(frame: CursorFrame): void {
    this.#seen.add(frame.kind);
    switch (frame.kind) {
      case "compacted":
        this.#onCompacted(frame.oldest);
        return;
      case "snapshot":
        this.#onSnapshot(frame);
        return;
      case "changes":
        this.#onChanges(frame);
        return;
      case "progress":
        this.#keepToken(frame.revision);
        return;
    }
  }

  #onCompacted(oldest: number): void {
    expect(this.#options.failIfCompacted).toBe(true);
    expect(oldest).toBe(this.#run.history.floor);
    this.#token = undefined;
    this.#cursor = this.#open();
  }

  #onSnapshot(frame: Extract<CursorFrame, { kind: "snapshot" }>): void {
    expect(this.#cutRevision).toBeUndefined();
    if (frame.first) this.#table.clear();
    if (frame.afterCompaction) {
      expect(this.#options.failIfCompacted).toBe(false);
      this.#seen.add("afterCompaction");
    }
    if (!frame.last) this.#seen.add("partOfSnapshot");
    for (const record of frame.records) this.#table.set(record.rangeId, record);
    this.#toldUpTo = frame.last ? frame.revision : undefined;
    if (frame.last) this.#keepToken(frame.revision);
  }

  #onChanges(frame: Extract<CursorFrame, { kind: "changes" }>): void {
    const { revisions, continues } = frame;
    expect(revisions.length).toBeGreaterThan(0);
    expect(frame.revision).toBe(revisions.at(-1)?.revision);
    for (const { revision, changes } of revisions) {
      expect(changes.length).toBeGreaterThan(0);
      if (this.#cutRevision === undefined) this.#checkNext(revision);
      else expect(revision).toBe(this.#cutRevision);
      for (const { before, after } of changes) {
        const rangeId = (before ?? after)?.rangeId ?? "";
        const known = this.#table.get(rangeId);
        const isKnown = before !== undefined && matchesRecord(this.filter, before);
        expect(known).toBe(isKnown ? before : undefined);
        this.#table.delete(rangeId);
        if (after !== undefined && matchesRecord(this.filter, after)) {
          this.#table.set(rangeId, after);
        }
      }
      this.#cutRevision = undefined;
    }
    if (continues) {
      this.#seen.add("cut");
      expect(revisions).toHaveLength(1);
      this.#cutRevision = frame.revision;
      this.#toldUpTo = undefined;
      return;
    }
    this.#toldUpTo = frame.revision;
    this.#keepToken(frame.revision);
  }

  /** Ordered, unique, and nothing that matters in between was left out. */
  #checkNext(revision: number): void {
    const { history } = this.#run;
    const last = this.#toldUpTo;
    if (last === undefined) throw new Error("changes come after a state");
    expect(revision).toBeGreaterThan(last);
    if (last >= history.floor) {
      const between = inShort(this.#run.matching(this.filter, revision - 1));
      expect(inShort(this.#run.matching(this.filter, last))).toEqual(between);
    }
    this.#toldUpTo = revision;
  }

  #keepToken(revision: Revision): void {
    this.#checkTable(revision);
    this.#token = encodeToken({
      clusterId: "c",
      generation: 0,
      filterFingerprint: filterFingerprint(this.filter),
      positions: [{ group: 1 as GroupId, revision }],
    });
  }

  #checkTable(revision: number): void {
    expect(inShort(this.#table.values())).toEqual(
      inShort(this.#run.matching(this.filter, revision)),
    );
  }

  #open(): WatchCursor {
    const decoded = this.#token && decodeToken(this.#token);
    if (decoded !== undefined && !decoded.ok) throw new Error(decoded.error);
    const resumeAfter = decoded?.value.positions[0]?.revision;
    // What came without a token is not known to be whole: back to the token's state.
    this.#table.clear();
    this.#toldUpTo = resumeAfter;
    if (resumeAfter !== undefined) {
      for (const record of this.#run.matching(this.filter, resumeAfter)) {
        this.#table.set(record.rangeId, record);
      }
    }
    return new WatchCursor({
      filter: this.filter,
      history: this.#run.history,
      snapshot: () => this.#run.matching(this.filter),
      resumeAfter,
      ...this.#options,
    });
  }
}

const FILTERS: readonly WatchFilter[] = [
  { keyspaceId: undefined, span: WHOLE_SPAN, nodeId: undefined },
  { keyspaceId: 1, span: WHOLE_SPAN, nodeId: undefined },
  {
    keyspaceId: 2,
    span: { startKey: utf8ToBytes("d"), endKey: utf8ToBytes("k") },
    nodeId: undefined,
  },
  { keyspaceId: undefined, span: WHOLE_SPAN, nodeId: "a" },
  { keyspaceId: 1, span: { startKey: utf8ToBytes("h"), endKey: undefined }, nodeId: "b" },
  { keyspaceId: 9, span: WHOLE_SPAN, nodeId: undefined },
];

test("any watch, pulled and resumed at any points, gives the state at every token (law 21)", () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 12; seed++) {
    const bounds = seed % 3 === 0 ? [20, 8] : [400, 300];
    const run = new ShardRun(seed, {
      changesMax: bounds[0] ?? 0,
      revisionsMax: bounds[1] ?? 0,
    });
    const watchers = FILTERS.map((filter) => {
      const frameBytesMax = run.prng.pick([1, 400, 2_000, 100_000]);
      const failIfCompacted = run.prng.chance(0.5);
      return new Watcher(run, filter, { frameBytesMax, failIfCompacted }, seen);
    });
    for (let entry = 0; entry < ENTRIES; entry++) {
      run.step();
      for (const watcher of watchers) if (run.prng.chance(0.25)) watcher.act(run.prng);
    }
    for (const watcher of watchers) watcher.catchUp();
  }
  const wanted = ["snapshot", "changes", "progress", "compacted", "afterCompaction", "cut"];
  for (const what of [...wanted, "partOfSnapshot", "resumed"]) expect(seen).toContain(what);
}, 60_000);

test("snapshots that are installed under watches are told as marked fresh ones (law 21)", () => {
  const seen = new Set<string>();
  for (let seed = 21; seed <= 28; seed++) {
    const run = new ShardRun(seed, { changesMax: 10_000, revisionsMax: 10_000 });
    const watchers = FILTERS.map((filter) => {
      const frameBytesMax = run.prng.pick([1, 400, 2_000, 100_000]);
      const failIfCompacted = run.prng.chance(0.5);
      return new Watcher(run, filter, { frameBytesMax, failIfCompacted }, seen);
    });
    for (let entry = 0; entry < ENTRIES; entry++) {
      if (run.prng.chance(0.05)) run.install(run.prng.nextInteger(1, 12));
      else run.step();
      for (const watcher of watchers) if (run.prng.chance(0.25)) watcher.act(run.prng);
    }
    for (const watcher of watchers) watcher.catchUp();
  }
  for (const what of ["compacted", "afterCompaction", "cut", "partOfSnapshot", "resumed"]) {
    expect(seen).toContain(what);
  }
}, 60_000);

test("a frame holds whole revisions up to its size, and one that is too large goes in pieces", () => {
  const run = new ShardRun(2, { changesMax: 10_000, revisionsMax: 10_000 });
  for (let entry = 0; entry < 120; entry++) run.step();
  const total = [...run.changeCounts.values()].reduce((sum, count) => sum + count, 0);
  for (const frameBytesMax of [1, 700, 1_000_000]) {
    const cursor = new WatchCursor({
      filter: { keyspaceId: undefined, span: WHOLE_SPAN, nodeId: undefined },
      history: run.history,
      snapshot: () => [],
      frameBytesMax,
      resumeAfter: 0 as Revision,
      failIfCompacted: true,
    });
    const counts = new Map<number, number>();
    let frames = 0;
    for (let frame = cursor.next(); frame !== undefined; frame = cursor.next()) {
      if (frame.kind !== "changes") throw new Error(`a ${frame.kind} frame`);
      frames++;
      for (const { revision, changes } of frame.revisions) {
        counts.set(revision, (counts.get(revision) ?? 0) + changes.length);
      }
      if (frameBytesMax === 1) expect(frame.revisions[0]?.changes).toHaveLength(1);
    }
    expect(counts).toEqual(run.changeCounts);
    if (frameBytesMax === 1) expect(frames).toBe(total);
    if (frameBytesMax === 1_000_000) expect(frames).toBe(1);
  }
});

test("a token of the future is not taken back: what it covers is never told again", () => {
  const run = new ShardRun(5, { changesMax: 1_000, revisionsMax: 1_000 });
  const resumeAfter = 60 as Revision;
  const cursor = new WatchCursor({
    filter: { keyspaceId: undefined, span: WHOLE_SPAN, nodeId: undefined },
    history: run.history,
    snapshot: () => run.present(),
    frameBytesMax: 1_000_000,
    resumeAfter,
    failIfCompacted: false,
  });
  while (run.revision < 60) {
    run.step();
    expect(cursor.next()).toBeUndefined();
    expect(cursor.progress().revision).toBe(resumeAfter);
  }
  do run.step();
  while (!run.changeCounts.has(run.revision));
  const frame = cursor.next();
  expect(frame?.kind).toBe("changes");
  if (frame?.kind !== "changes") return;
  expect(frame.revisions.every(({ revision }) => revision > resumeAfter)).toBe(true);
});

test("a snapshot that is taken while the history runs on goes on where it stood", () => {
  const run = new ShardRun(7, { changesMax: 1_000, revisionsMax: 1_000 });
  for (let entry = 0; entry < 40; entry++) run.step();
  const takenAt = run.revision;
  const cursor = new WatchCursor({
    filter: { keyspaceId: undefined, span: WHOLE_SPAN, nodeId: undefined },
    history: run.history,
    snapshot: () => run.present(),
    frameBytesMax: 1,
    resumeAfter: undefined,
    failIfCompacted: false,
  });
  const records: RangeRecord[] = [];
  for (;;) {
    const frame = cursor.next();
    if (frame?.kind !== "snapshot") throw new Error("the snapshot is not over");
    expect(frame.revision).toBe(takenAt);
    expect([frame.first, frame.records.length]).toEqual([records.length === 0, 1]);
    records.push(...frame.records);
    run.step();
    if (frame.last) break;
  }
  expect(inShort(records)).toEqual(inShort(run.at(takenAt)));
  while (!run.changeCounts.has(run.revision)) run.step();
  const next = cursor.next();
  expect(next?.kind === "changes" && next.revisions[0]?.revision).toBeGreaterThan(takenAt);
});
