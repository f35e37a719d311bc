/** Lists at an earlier revision against full copies of what was there then. */

import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import type { Revision } from "../../src/base/brands.ts";
import { isValidSpan, type Span, spansOverlap, WHOLE_SPAN } from "../../src/base/span.ts";
import { recordsAt } from "../../src/fanout/records-at.ts";
import type { RangeRecord } from "../../src/machine/shard/types.ts";
import { inShort, ShardRun } from "./shard-run.ts";

function* presentFrom(
  run: ShardRun,
  keyspaceId: number,
  startKey: Uint8Array,
): Generator<RangeRecord> {
  const ranges = run.shard.machine.state.keyspaces.get(keyspaceId)?.ranges;
  const first = ranges?.floor(startKey)?.[0];
  if (ranges === undefined || first === undefined) return;
  for (const [, { record }] of ranges.entriesFrom(first)) yield record;
}

function listed(run: ShardRun, keyspaceId: number, span: Span, revision: number): RangeRecord[] {
  const from = (startKey: Uint8Array): Iterable<RangeRecord> =>
    presentFrom(run, keyspaceId, startKey);
  const query = { keyspaceId, span, revision: revision as Revision };
  return [...recordsAt({ from }, run.history, query)];
}

test("every kept revision and any span is listed as it was, in key order (law 19's pages)", () => {
  for (let seed = 1; seed <= 12; seed++) {
    const run = new ShardRun(seed, { changesMax: 120, revisionsMax: 60 });
    const { prng } = run;
    for (let entry = 0; entry < 160; entry++) {
      run.step();
      if (entry % 8 !== 0) continue;
      for (let times = 0; times < 6; times++) {
        const revision = prng.nextInteger(run.history.floor, run.revision);
        const span = randomSpan(run);
        const keyspaceId = prng.nextInteger(1, 2);
        const expected = run
          .at(revision)
          .filter((record) => record.keyspaceId === keyspaceId && spansOverlap(span, record));
        const actual = listed(run, keyspaceId, span, revision);
        expect(inShort(actual), `seed ${seed} at ${revision}`).toEqual(inShort(expected));
        expect(actual.map(({ startKey }) => startKey)).toEqual(
          expected.map(({ startKey }) => startKey),
        );
      }
    }
  }
});

function randomSpan({ prng }: ShardRun): Span {
  const startKey = utf8ToBytes(prng.pick(["", "", "a", "d", "h", "i", "x", "z"]));
  const end = prng.pick([undefined, undefined, "c", "f", "h", "p", "zz"]);
  const span = { startKey, endKey: end === undefined ? undefined : utf8ToBytes(end) };
  return isValidSpan(span) ? span : WHOLE_SPAN;
}

test("a revision below the floor is a bug of the caller, who has to ask first", () => {
  const run = new ShardRun(1, { changesMax: 1, revisionsMax: 1 });
  for (let entry = 0; entry < 40; entry++) run.step();
  expect(run.history.floor).toBeGreaterThan(0);
  expect(() => listed(run, 1, WHOLE_SPAN, 0)).toThrow("only kept revisions");
});
