import { expect, test } from "vitest";
import type { LogIndex, ReplicaId, Term } from "../../src/base/brands.ts";
import { bytesToHex } from "../../src/base/bytes.ts";
import { Acknowledgements, judgeLogs, lagOf } from "../../src/storage/acknowledged.ts";
import {
  type Acknowledged,
  type AcknowledgedContent,
  createAcknowledged,
  readAcknowledged,
  writeSlot,
} from "../../src/storage/acknowledged-file.ts";
import { emptyHardStateRecord, GroupLog } from "../../src/storage/group-log.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { groupOf } from "../conformance/log-steps.ts";
import { FakeFiles } from "./fake-files.ts";
import { resealed, storageErrorOf } from "./level-harness.ts";

const SLOT_BYTES = 4096;

function told(term: number, votedFor = 0, index = 0, group = 0): Acknowledged {
  return {
    group: groupOf(group),
    term: term as Term,
    votedFor: votedFor === 0 ? undefined : (votedFor as ReplicaId),
    index: index as LogIndex,
  };
}

async function newFile(groups: readonly Acknowledged[]): Promise<FakeFiles> {
  const files = new FakeFiles();
  await createAcknowledged(files, { storeUuid: "u", groups });
  return files;
}

async function read(files: FakeFiles): Promise<AcknowledgedContent> {
  return (await readAcknowledged(files, "/data")) ?? expect.fail("no file");
}

function contentOf(files: FakeFiles): Uint8Array {
  return files.content ?? expect.fail("no file");
}

test("a slot has these bytes, in its half of the file (version 1)", async () => {
  const files = await newFile([told(3, 2, 258), told(1, 0, 0, 7)]);
  const hex = bytesToHex(contentOf(files).subarray(SLOT_BYTES, SLOT_BYTES + 78));
  const record =
    "01 0000000000000001 0001 75 0002 " +
    "00000000 0000000000000003 0000000000000002 0000000000000102 " +
    "00000007 0000000000000001 0000000000000000 0000000000000000 c1019bf1";
  expect(hex).toBe(`0000004a ${record}`.replaceAll(" ", ""));
  expect(contentOf(files).length).toBe(2 * SLOT_BYTES);
  expect((await read(files)).slot.number).toBe(2);
});

test("the slot with the larger number counts, and the next write goes to the other", async () => {
  const files = await newFile([told(1)]);
  for (let number = 3; number < 8; number++) {
    const before = contentOf(files).slice();
    const slot = { number, storeUuid: "u", groups: [told(number)] };
    await writeSlot(files, slot, SLOT_BYTES);
    expect((await read(files)).slot).toEqual(slot);
    const half = (number % 2) * SLOT_BYTES;
    const other = SLOT_BYTES - half;
    expect(contentOf(files).subarray(other, other + SLOT_BYTES)).toEqual(
      before.subarray(other, other + SLOT_BYTES),
    );
  }
});

test("a write that a crash tore leaves what was told before, or is whole", async () => {
  const files = await newFile([told(1, 1)]);
  const before = contentOf(files).slice();
  await writeSlot(files, { number: 3, storeUuid: "u", groups: [told(2, 3, 9)] }, SLOT_BYTES);
  const after = contentOf(files).slice();
  for (let at = 0; at <= 70; at++) {
    const torn = after.slice();
    torn.set(before.subarray(SLOT_BYTES + at, 2 * SLOT_BYTES), SLOT_BYTES + at);
    files.content = torn;
    const { groups } = (await read(files)).slot;
    expect([told(1, 1), told(2, 3, 9)]).toContainEqual(groups[0]);
  }
});

test("every flipped bit of one slot is noticed, and the other counts", async () => {
  const files = await newFile([told(3, 2, 258)]);
  const sound = contentOf(files).slice();
  expect((await read(files)).isTwofold).toBe(true);
  for (const half of [0, SLOT_BYTES]) {
    for (let bit = 0; bit < 8 * 50; bit++) {
      const flipped = sound.slice();
      const at = half + (bit >> 3);
      flipped[at] = (flipped[at] as number) ^ (1 << (bit & 7));
      files.content = flipped;
      const { slot, isTwofold } = await read(files);
      expect(slot.groups).toEqual([told(3, 2, 258)]);
      expect(isTwofold).toBe(false);
    }
  }
});

test("a file without a readable slot is damage, and a later version is named", async () => {
  const files = await newFile([told(1)]);
  const sound = contentOf(files).slice();
  contentOf(files).fill(0);
  await storageErrorOf(read(files), "damaged");
  files.content = sound.subarray(0, SLOT_BYTES);
  await storageErrorOf(read(files), "damaged");
  files.content = new Uint8Array(0);
  await storageErrorOf(read(files), "damaged");
  files.content = sound.slice();
  for (const half of [0, SLOT_BYTES]) {
    const record = files.content.subarray(half + 4, half + 4 + 46);
    record[0] = 9;
    record.set(resealed(record));
  }
  await storageErrorOf(read(files), "formatUnknown");
});

const T2 = told(2, 3, 9);

test.each<[string, Acknowledged, RegExp | undefined]>([
  ["the same", told(2, 3, 9), undefined],
  ["a longer log", told(2, 3, 10), undefined],
  ["a later term with nothing of it yet", told(3), undefined],
  ["a shorter log of the term", told(2, 3, 8), /its log of that term ends at 8/],
  ["another vote", told(2, 1, 9), /its vote for 3 is gone/],
  ["no vote", told(2, 0, 9), /its vote for 3 is gone/],
  ["an earlier term with a longer log", told(1, 3, 99), /its term is 1/],
])("%s, where index 9 of term 2 was told with a vote for 3, is judged rightly", (_, now, lag) => {
  if (lag === undefined) expect(lagOf(now, T2)).toBeUndefined();
  else expect(lagOf(now, T2)).toMatch(lag);
});

test("a vote that the record does not know yet is no contradiction", () => {
  expect(lagOf(told(2, 3, 9), told(2, 0, 9))).toBeUndefined();
});

test("a store is judged group by group, and must be the record's own", () => {
  const logs = new Map(
    [0, 1].map((group) => {
      const log = new GroupLog(emptyHardStateRecord(groupOf(group), 1));
      return [log.group, log];
    }),
  );
  const judge = (storeUuid: string, groups: readonly Acknowledged[]) => () =>
    judgeLogs({ number: 1, storeUuid: "u", groups }, { dir: "/data", storeUuid, logs });
  expect(judge("u", [told(0), told(0, 0, 0, 1)])).not.toThrow();
  expect(judge("v", [told(0), told(0, 0, 0, 1)])).toThrow(
    expect.objectContaining({ code: "foreign" }),
  );
  expect(judge("u", [told(0)])).toThrow(expect.objectContaining({ code: "foreign" }));
  expect(judge("u", [told(0), told(1, 0, 0, 1)])).toThrow(
    expect.objectContaining({ code: "regressed", place: { group: 1, index: 0 } }),
  );
  expect(judge("u", [told(0), told(0, 0, 0, 1), told(0, 0, 0, 2)])).toThrow(
    expect.objectContaining({ code: "regressed" }),
  );
});

async function setUp(groups: readonly Acknowledged[] = [told(1)]) {
  const files = await newFile(groups);
  const clock = new VirtualClock();
  const rejected: unknown[] = [];
  const acknowledgements = new Acknowledgements({
    files,
    timers: clock,
    content: await read(files),
    groups,
    onRejected: (error) => rejected.push(error),
  });
  return { files, clock, acknowledgements, rejected };
}

test("what changes term or vote is urgent, the rest is not, and nothing new is neither", async () => {
  const { clock, acknowledgements } = await setUp();
  expect(acknowledgements.note([told(1)])).toBe(false);
  expect(clock.pendingCount).toBe(0);
  expect(acknowledgements.note([told(1, 0, 5)])).toBe(false);
  expect(acknowledgements.note([told(1, 2, 5)])).toBe(true);
  expect(acknowledgements.note([told(2)])).toBe(true);
  expect(acknowledgements.note([told(2, 0, 7), told(2)])).toBe(false);
});

test("both slots follow within two seconds, and then nothing is written", async () => {
  const { files, clock, acknowledgements } = await setUp();
  acknowledgements.note([told(1, 0, 5)]);
  await clock.advance(999);
  expect((await read(files)).slot.number).toBe(2);
  await clock.advance(1);
  expect((await read(files)).slot).toMatchObject({ number: 3, groups: [told(1, 0, 5)] });
  await clock.advance(1_000);
  expect(await read(files)).toMatchObject({ isTwofold: true, slot: { number: 4 } });
  await clock.advance(60_000);
  expect((await read(files)).slot.number).toBe(4);
});

test("under constant change the newest state is written once a second", async () => {
  const { files, clock, acknowledgements } = await setUp();
  for (let index = 1; index <= 100; index++) {
    acknowledgements.note([told(1, 0, index)]);
    await clock.advance(100);
    const late = index - ((await read(files)).slot.groups[0]?.index ?? 0);
    expect(late).toBeLessThanOrEqual(10);
  }
  expect((await read(files)).slot.number).toBe(2 + 10);
});

test("a record that is behind its store, or has one readable slot, is made twofold", async () => {
  const { files, clock } = await setUp();
  contentOf(files).fill(0, SLOT_BYTES);
  for (const groups of [[told(1)], [told(4, 2, 8)]]) {
    const content = await read(files);
    const acknowledgements = new Acknowledgements({
      files,
      timers: clock,
      content,
      groups,
      onRejected: () => expect.unreachable(),
    });
    await acknowledgements.settle();
    expect(await read(files)).toMatchObject({ isTwofold: true, slot: { groups } });
    acknowledgements.end();
  }
});

test("after a rejected write nothing is written any more", async () => {
  const { files, clock, acknowledgements, rejected } = await setUp();
  files.held = [];
  acknowledgements.note([told(2)]);
  const written = acknowledgements.write();
  await clock.settle();
  files.held[0]?.fail(new Error("gone"));
  await expect(written).rejects.toThrow("gone");
  acknowledgements.note([told(3)]);
  await expect(acknowledgements.write()).rejects.toThrow("gone");
  await clock.advance(5_000);
  expect(files.held.length).toBe(1);
  expect(rejected.length).toBeGreaterThan(0);
});
