/** Snapshots of any machine in one go, and what every restore must keep to. */

import fc from "fast-check";
import { expect } from "vitest";
import { type Bytes, bytesToHex, concatBytes, hexToBytes } from "../../src/base/bytes.ts";
import { encode } from "../../src/base/codec.ts";
import { Prng } from "../../src/base/prng.ts";
import { ok, type Result } from "../../src/base/result.ts";
import { Digest } from "../../src/machine/common/digest.ts";
import { endCodec, PRELUDE_BYTES } from "../../src/machine/common/snapshot-form.ts";
import type { SnapshotCut, SnapshotRestore } from "../../src/machine/group.ts";

interface Cuttable {
  openCut(pieceBytes?: number): SnapshotCut;
}

export interface Restorable extends Cuttable {
  beginRestore(): SnapshotRestore;
  digest(): string;
}

/** All pieces of a cut; `between` runs after each of them. Closes the cut. */
export function drain(cut: SnapshotCut, between: () => void = () => {}): Bytes[] {
  const pieces: Bytes[] = [];
  for (let piece = cut.next(); piece !== undefined; piece = cut.next()) {
    pieces.push(piece);
    between();
  }
  cut.close();
  return pieces;
}

/** The machine's whole snapshot, encoded at once. */
export function snapshotOf(machine: Cuttable): Bytes {
  return concatBytes(...drain(machine.openCut()));
}

export function digestOf(bytes: Bytes): string {
  const digest = new Digest();
  digest.update(bytes);
  return digest.hex();
}

/** Restores from bytes, given whole or, with a generator, split at random places. */
export function restore(machine: Restorable, bytes: Bytes, prng?: Prng): Result<void, string> {
  const restoring = machine.beginRestore();
  let at = 0;
  while (at < bytes.length) {
    const length = prng === undefined ? bytes.length : prng.nextInteger(0, 40);
    const accepted = restoring.accept(bytes.slice(at, at + length));
    if (!accepted.ok) return accepted;
    at += length;
  }
  return restoring.finish();
}

/** Appends the end mark of a snapshot: a frame of tag 0, the count, and the digest of the body. */
export function sealed(body: Bytes, recordCount: number): Bytes {
  const end = encode(endCodec, { recordCount, digest: digestOf(body) });
  return concatBytes(body, Uint8Array.of(end.length + 1, 0), end);
}

/** A snapshot from the hex of its frames; spaces separate fields. */
export function goldenSnapshot(frames: readonly string[], recordCount: number): Bytes {
  const body = hexToBytes(frames.join("").replaceAll(" ", ""));
  if (body === undefined) throw new Error("a golden frame is not hex");
  return sealed(body, recordCount);
}

export interface Subject<M extends Restorable> {
  readonly newMachine: () => M;
  /** Must hold of whatever could be restored. */
  readonly check: (machine: M) => void;
  readonly bytes: Bytes;
}

/** The end mark of fewer than 128 records: length, tag, count, and the digest as a text of 16. */
const END_BYTES = 1 + 1 + 1 + 1 + 16;

/** Cut, altered and invented bytes are refused, or are the one form of what they restore. */
export function expectTotalRestore<M extends Restorable>(subject: Subject<M>): void {
  const { bytes } = subject;
  const recordCount = framesOf(bytes).length - 3;
  const body = bytes.subarray(0, bytes.length - END_BYTES);
  expect(bytesToHex(sealed(body, recordCount))).toBe(bytesToHex(bytes));
  expect(restore(subject.newMachine(), bytes)).toEqual(ok(undefined));
  for (let length = 0; length < bytes.length; length++) {
    expectRefused(subject, bytes.subarray(0, length), `cut to ${length}`);
  }
  expectRefused(subject, Uint8Array.of(...bytes, 0), "one byte more");
  const prng = Prng.fromSeed(5);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = bytes.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expectRefused(subject, flipped, `bit ${bit}`);
    if (bit < body.length * 8) {
      expectOneForm(subject, sealed(flipped.subarray(0, body.length), recordCount));
    }
  }
  for (let times = 0; times < 500; times++) {
    const altered = body.slice();
    for (let count = prng.nextInteger(1, 4); count > 0; count--) {
      altered[prng.nextInteger(0, body.length - 1)] = prng.nextInteger(0, 255);
    }
    expectOneForm(subject, sealed(altered, recordCount));
  }
  const anyStart = fc.oneof(fc.constant(0), fc.nat(bytes.length));
  fc.assert(
    fc.property(anyStart, fc.uint8Array({ maxLength: 60 }), (start, rest) => {
      expectOneForm(subject, concatBytes(bytes.subarray(0, start), rest));
    }),
    { numRuns: 500, seed: 9 },
  );
}

/** Records left out, repeated or out of place are refused, or are the one form of a state. */
export function expectOrderedRecords<M extends Restorable>(subject: Subject<M>): void {
  const frames = framesOf(subject.bytes);
  const records = frames.slice(2, -1);
  const given = (changed: readonly Bytes[]): Bytes =>
    sealed(concatBytes(...frames.slice(0, 2), ...changed), changed.length);
  expect(bytesToHex(given(records))).toBe(bytesToHex(subject.bytes));
  const prng = Prng.fromSeed(6);
  for (const [at, record] of records.entries()) {
    expectOneForm(subject, given(records.toSpliced(at, 1)));
    expectOneForm(subject, given(records.toSpliced(at, 0, record)));
    const to = prng.nextInteger(0, records.length - 1);
    expectOneForm(subject, given(records.toSpliced(at, 1).toSpliced(to, 0, record)));
    const next = records[at + 1];
    if (next !== undefined) expectOneForm(subject, given(records.toSpliced(at, 2, next, record)));
  }
}

/** The prelude and the frames of a snapshot, each with its length. */
function framesOf(bytes: Bytes): Bytes[] {
  const frames = [bytes.subarray(0, PRELUDE_BYTES)];
  let at = PRELUDE_BYTES;
  while (at < bytes.length) {
    const start = at;
    let length = 0;
    let factor = 1;
    for (; (bytes[at] ?? 0) >= 0x80; factor *= 0x80) length += ((bytes[at++] ?? 0) & 0x7f) * factor;
    length += (bytes[at++] ?? 0) * factor;
    at += length;
    frames.push(bytes.subarray(start, at));
  }
  return frames;
}

function expectRefused<M extends Restorable>(
  { newMachine }: Subject<M>,
  bytes: Bytes,
  what: string,
): void {
  const machine = newMachine();
  const before = machine.digest();
  expect(restore(machine, bytes).ok, what).toBe(false);
  expect(machine.digest(), what).toBe(before);
}

function expectOneForm<M extends Restorable>(subject: Subject<M>, bytes: Bytes): void {
  const machine = subject.newMachine();
  if (!restore(machine, bytes).ok) return;
  expect(bytesToHex(snapshotOf(machine))).toBe(bytesToHex(bytes));
  subject.check(machine);
}
