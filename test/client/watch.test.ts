// A watch over many streams: no gap, no repeat, nothing half, and a dead stream is noticed.
import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesToUtf8 } from "../../src/base/bytes.ts";
import { failed, ok, type Result } from "../../src/base/result.ts";
import type { WatchInput } from "../../src/client/requests.ts";
import type { WatchOptions } from "../../src/client/watch.ts";
import type { RangeRecord, Refusal, WatchFrame, WatchRequest } from "../../src/wire/api.ts";
import {
  answer,
  change,
  changesFrame,
  errorOf,
  FakeNetwork,
  header,
  progressFrame,
  record,
  refusal,
  silence,
  snapshotFrame,
} from "./support.ts";

const ADDRESSES = ["a:1", "b:1", "c:1"];

type Item = WatchFrame | Refusal;

/** One stream: these, and then silence, or the end if the last is a refusal. */
async function* streamOf(items: readonly Item[]): AsyncGenerator<Result<WatchFrame, Refusal>> {
  for (const item of items) {
    yield "reason" in item ? failed(item) : ok(item);
    if ("reason" in item) return;
  }
  yield* silence();
}

/** Serves the streams one after another, whatever the address. */
function serveStreams(network: FakeNetwork, streams: readonly (readonly Item[])[]): void {
  let next = 0;
  for (const address of ADDRESSES) {
    network.watches.set(address, () => streamOf(streams[next++] ?? []));
  }
}

/** Reads a watch in the background until it ends. */
function follow(
  network: FakeNetwork,
  input: WatchInput = {},
  options: WatchOptions = {},
): { frames: WatchFrame[]; ended: Promise<void>; stop: () => void } {
  const controller = new AbortController();
  const frames: WatchFrame[] = [];
  const read = async (): Promise<void> => {
    const { signal } = controller;
    const watch = network.client(ADDRESSES).watch(input, { ...options, signal });
    for await (const frame of watch) frames.push(frame);
  };
  return { frames, ended: read(), stop: () => controller.abort() };
}

function tokensAsked(network: FakeNetwork): (string | undefined)[] {
  return network.callsOf("watch").map(({ request }) => {
    const { resumeToken } = request as WatchRequest;
    return resumeToken === undefined ? undefined : bytesToUtf8(resumeToken);
  });
}

const GRANT = change("granted", record({ epoch: 0 }), record({ epoch: 11, node: "n1" }));
const RELEASE = change("released", record({ epoch: 11, node: "n1" }), record({ epoch: 11 }));

test("a broken stream is resumed at another server after the last whole frame (law 21)", async () => {
  const network = new FakeNetwork();
  serveStreams(network, [
    [snapshotFrame(10, [record()]), changesFrame([[11, [GRANT]]]), refusal("TRANSIENT")],
    [changesFrame([[12, [RELEASE]]]), progressFrame(15)],
  ]);
  const watch = follow(network);
  await network.clock.advance(500);
  expect(watch.frames.map((frame) => frame.header.revision)).toEqual([10, 11, 12, 15]);
  expect(tokensAsked(network)).toEqual([undefined, "t11"]);
  const [first, second] = network.addressesOf("watch");
  expect(second).not.toBe(first);
  watch.stop();
  await watch.ended;
  expect(network.clock.pendingCount).toBe(0);
});

test("a snapshot that was cut off half way is thrown away and begun again", async () => {
  const network = new FakeNetwork();
  const one = record({ id: "r1", end: "m" });
  const two = record({ id: "r2", start: "m" });
  const part = { last: false, resumeToken: undefined };
  serveStreams(network, [
    [snapshotFrame(10, [one], part), refusal("TRANSIENT")],
    [snapshotFrame(12, [one], part), snapshotFrame(12, [two], { first: false })],
  ]);
  const watch = follow(network);
  await network.clock.advance(500);
  expect(watch.frames).toHaveLength(1);
  expect(watch.frames[0]).toMatchObject({ first: true, last: true, ranges: [one, two] });
  expect(tokensAsked(network)).toEqual([undefined, undefined]);
  watch.stop();
});

test("a revision that was cut is delivered in one piece, or not at all (B19)", async () => {
  const network = new FakeNetwork();
  const cut = { continues: true, resumeToken: undefined };
  serveStreams(network, [
    [snapshotFrame(10, []), changesFrame([[11, [GRANT]]], cut), refusal("TRANSIENT")],
    [
      changesFrame([[11, [GRANT]]], cut),
      changesFrame([
        [11, [RELEASE]],
        [12, [GRANT]],
      ]),
    ],
  ]);
  const watch = follow(network);
  await network.clock.advance(500);
  expect(tokensAsked(network)).toEqual([undefined, "t10"]);
  expect(watch.frames).toHaveLength(2);
  expect(watch.frames[1]).toMatchObject({
    continues: false,
    revisions: [
      { revision: 11, changes: [GRANT, RELEASE] },
      { revision: 12, changes: [GRANT] },
    ],
  });
  watch.stop();
});

test("a stream that is silent for ten seconds is dead, and one that sends progress is not (B22)", async () => {
  const network = new FakeNetwork();
  serveStreams(network, [[snapshotFrame(10, [])], [progressFrame(20)]]);
  const interruptions: string[] = [];
  const watch = follow(
    network,
    {},
    { onInterrupted: ({ message }) => interruptions.push(message) },
  );
  await network.clock.advance(9_999);
  expect(interruptions).toEqual([]);
  await network.clock.advance(100);
  expect(interruptions).toHaveLength(1);
  expect(interruptions[0]).toContain("sent nothing for 10000 ms");
  expect(tokensAsked(network)).toEqual([undefined, "t10"]);
  expect(watch.frames.map((frame) => frame.kind)).toEqual(["snapshot", "progress"]);
  watch.stop();
});

const cutRevision = { continues: true, resumeToken: undefined };

test.each([
  ["a repeated revision", 2, [changesFrame([[11, [GRANT]]]), changesFrame([[11, [GRANT]]])]],
  ["an older revision", 2, [changesFrame([[12, [GRANT]]]), changesFrame([[11, [GRANT]]])]],
  ["progress that goes back", 2, [progressFrame(20), progressFrame(19)]],
  ["a change at or before a progress mark", 2, [progressFrame(20), changesFrame([[20, [GRANT]]])]],
  ["a second part without a first", 1, [snapshotFrame(30, [], { first: false })]],
  ["a frame without a token", 1, [{ ...progressFrame(20), resumeToken: undefined }]],
  ["a cut revision broken off", 1, [changesFrame([[11, [GRANT]]], cutRevision), progressFrame(12)]],
  [
    "a cut revision that goes on as another",
    1,
    [changesFrame([[11, [GRANT]]], cutRevision), changesFrame([[12, [GRANT]]])],
  ],
] as [string, number, WatchFrame[]][])(
  "%s ends the stream, and is not delivered",
  async (_what, deliveredCount, frames) => {
    const network = new FakeNetwork();
    serveStreams(network, [[snapshotFrame(10, []), ...frames], []]);
    const watch = follow(network);
    await network.clock.advance(1_000);
    expect(network.callsOf("watch")).toHaveLength(2);
    expect(watch.frames).toHaveLength(deliveredCount);
    watch.stop();
  },
);

test("changes before the snapshot that was asked for end the stream", async () => {
  const network = new FakeNetwork();
  serveStreams(network, [[changesFrame([[11, [GRANT]]])], [snapshotFrame(12, [])]]);
  const watch = follow(network);
  await network.clock.advance(500);
  expect(watch.frames.map((frame) => frame.kind)).toEqual(["snapshot"]);
  watch.stop();
});

test("COMPACTED starts over with a marked snapshot, or is thrown, as the caller asked (B23)", async () => {
  const network = new FakeNetwork();
  serveStreams(network, [
    [snapshotFrame(10, []), refusal("TRANSIENT")],
    [refusal("COMPACTED")],
    [snapshotFrame(90, [])],
  ]);
  const watch = follow(network);
  await network.clock.advance(1_000);
  expect(tokensAsked(network)).toEqual([undefined, "t10", undefined]);
  expect(watch.frames[1]).toMatchObject({ kind: "snapshot", afterCompaction: true });
  watch.stop();

  const strict = new FakeNetwork();
  serveStreams(strict, [[refusal("COMPACTED")]]);
  const resumeToken = progressFrame(5).resumeToken;
  const { ended } = follow(strict, { resumeToken, failIfCompacted: true });
  expect(await errorOf(ended)).toMatchObject({ reason: "COMPACTED" });
  expect(strict.callsOf("watch")).toHaveLength(1);
});

test("a snapshot older than what was seen of its group is refused (law 19)", async () => {
  const network = new FakeNetwork();
  serveStreams(network, [
    [snapshotFrame(50, []), refusal("COMPACTED")],
    [snapshotFrame(40, [])],
    [snapshotFrame(50, [])],
  ]);
  const watch = follow(network);
  await network.clock.advance(1_000);
  expect(watch.frames.map((frame) => frame.header.revision)).toEqual([50, 50]);
  watch.stop();
});

test("a resumed stream that repeats what was delivered is given up, and repeats nothing", async () => {
  const network = new FakeNetwork();
  serveStreams(network, [
    [snapshotFrame(10, []), changesFrame([[11, [GRANT]]]), refusal("TRANSIENT")],
    [changesFrame([[11, [GRANT]]])],
    [changesFrame([[12, [RELEASE]]])],
  ]);
  const watch = follow(network);
  await network.clock.advance(1_000);
  expect(watch.frames.map((frame) => frame.header.revision)).toEqual([10, 11, 12]);
  watch.stop();
});

test("a first snapshot is not older than what other calls of the client have seen (law 19)", async () => {
  const network = new FakeNetwork();
  network.serve(ADDRESSES, () => answer({ revision: 50 }));
  serveStreams(network, [[snapshotFrame(40, [])], [snapshotFrame(50, [])]]);
  const client = network.client(ADDRESSES);
  await client.directory.getRange({ rangeId: "r1" });
  const frames = client.watch()[Symbol.asyncIterator]();
  const first = frames.next();
  await network.clock.advance(1_000);
  expect((await first).value).toMatchObject({ kind: "snapshot", header: { revision: 50 } });
  client.close();
});

test.each(["INVALID", "DENIED", "NOT_FOUND", "CLUSTER_MISMATCH"] as const)(
  "%s ends the watch with an error, because no other server would answer differently",
  async (reason) => {
    const network = new FakeNetwork();
    serveStreams(network, [[refusal(reason)]]);
    expect(await errorOf(follow(network).ended)).toMatchObject({ reason });
    expect(network.callsOf("watch")).toHaveLength(1);
  },
);

test("a frame of another cluster ends the watch by name", async () => {
  const network = new FakeNetwork();
  const foreign = { ...progressFrame(20), header: header({ clusterId: "b", revision: 20 }) };
  serveStreams(network, [[snapshotFrame(10, []), foreign]]);
  expect(await errorOf(follow(network).ended)).toMatchObject({ reason: "CLUSTER_MISMATCH" });
});

test("while no server can serve a watch, attempts come with growing, jittered pauses (B31)", async () => {
  const network = new FakeNetwork();
  serveStreams(
    network,
    Array.from({ length: 1_000 }, () => [refusal("TRANSIENT")]),
  );
  const watch = follow(network);
  await network.clock.advance(30_000);
  const times = network.callsOf("watch").map((call) => call.atMs);
  const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  expect(pauses[0]).toBeGreaterThanOrEqual(25);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(1_000);
  expect(times.length).toBeLessThan(70);
  expect(new Set(pauses.slice(6)).size).toBeGreaterThan(10);
  watch.stop();
  await watch.ended;
});

// ---- Any history, cut anywhere: what is delivered is the history.

interface Script {
  readonly revisions: readonly number[];
  /** For each stream: how many messages it sends before it breaks. */
  readonly breaks: readonly number[];
  readonly pieces: number;
}

const scripts: fc.Arbitrary<Script> = fc.record({
  revisions: fc.uniqueArray(fc.integer({ min: 11, max: 60 }), { minLength: 1, maxLength: 12 }),
  breaks: fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 8 }),
  pieces: fc.integer({ min: 1, max: 3 }),
});

/** What a correct server sends from a position on, every revision cut into pieces. */
function messagesAfter(position: number | undefined, script: Script): WatchFrame[] {
  const ranges = [record({ id: "r1", end: "m" }), record({ id: "r2", start: "m" })];
  const start: WatchFrame[] =
    position !== undefined
      ? []
      : ranges.map((one, index) => {
          const last = index === ranges.length - 1;
          return snapshotFrame(10, [one], {
            first: index === 0,
            last,
            ...(last ? {} : { resumeToken: undefined }),
          });
        });
  const rest = script.revisions
    .filter((revision) => revision > (position ?? 10))
    .toSorted((a, b) => a - b)
    .flatMap((revision) =>
      Array.from({ length: script.pieces }, (_, piece) => {
        const isLast = piece === script.pieces - 1;
        const one: RangeRecord = record({ id: `p${piece}`, revision });
        const cut = isLast ? {} : { continues: true, resumeToken: undefined };
        return changesFrame([[revision, [change("granted", undefined, one)]]], cut);
      }),
    );
  return [...start, ...rest];
}

test("however streams are cut and broken, each revision arrives once, whole and in order", async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async (script) => {
      const network = new FakeNetwork();
      const breaks = [...script.breaks];
      for (const address of ADDRESSES) {
        network.watches.set(address, ({ resumeToken }) => {
          const text = resumeToken === undefined ? undefined : bytesToUtf8(resumeToken);
          const messages = messagesAfter(
            text === undefined ? undefined : Number(text.slice(1)),
            script,
          );
          const length = breaks.shift();
          if (length === undefined) return streamOf(messages);
          return streamOf([...messages.slice(0, length), refusal("TRANSIENT")]);
        });
      }
      const watch = follow(network);
      await network.clock.advance(9_000);
      const [first, ...rest] = watch.frames;
      expect(first).toMatchObject({ kind: "snapshot", first: true, last: true });
      const revisions = rest.flatMap((frame) => (frame.kind === "changes" ? frame.revisions : []));
      expect(revisions.map(({ revision }) => revision)).toEqual(
        script.revisions.toSorted((a, b) => a - b),
      );
      for (const { changes } of revisions) expect(changes).toHaveLength(script.pieces);
      watch.stop();
      await watch.ended;
    }),
    { numRuns: 60 },
  );
});
