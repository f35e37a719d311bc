/**
 * Writes a snapshot piece by piece: pulls records from a generator only as far as the next piece
 * needs them. Relies on the machine for records that stay as they were when the cut was opened.
 */

import type { Bytes } from "../../base/bytes.ts";
import { assert } from "../../base/assert.ts";
import type { Revision } from "../../base/brands.ts";
import { ByteWriter } from "../../base/codec.ts";
import type { SnapshotCut } from "../group.ts";
import { Digest } from "./digest.ts";
import {
  END_TAG,
  endCodec,
  FRAME_BYTES_MAX,
  positionCodec,
  preludeOf,
  type SnapshotForm,
  type SnapshotPosition,
} from "./snapshot-form.ts";

/** Small enough to be encoded in a few milliseconds, large enough to be few. */
const PIECE_BYTES: number = 32 * 1024;

export class RecordCut<Stored> implements SnapshotCut {
  readonly revision: Revision;
  readonly #form: SnapshotForm<Stored>;
  readonly #records: Iterator<Stored>;
  readonly #pieceBytes: number;
  readonly #onClose: () => void;
  /** Encoded and not yet given out. */
  readonly #out = new ByteWriter();
  readonly #frame = new ByteWriter();
  /** Of what was given out; for the end mark, of all before it. */
  readonly #digest = new Digest();
  #recordCount = 0;
  #isEnded = false;
  #isClosed = false;

  constructor(
    form: SnapshotForm<Stored>,
    position: SnapshotPosition,
    records: Iterator<Stored>,
    options: { readonly pieceBytes: number | undefined; readonly onClose: () => void },
  ) {
    this.revision = position.revision;
    this.#form = form;
    this.#records = records;
    this.#pieceBytes = options.pieceBytes ?? PIECE_BYTES;
    this.#onClose = options.onClose;
    for (const byte of preludeOf(form)) this.#out.byte(byte);
    positionCodec.write(this.#frame, position);
    this.#endFrame();
  }

  next(): Bytes | undefined {
    assert(!this.#isClosed, "a closed cut gives nothing more");
    while (this.#out.length < this.#pieceBytes && !this.#isEnded) this.#encodeNext();
    if (this.#out.length === 0) return undefined;
    const piece = this.#out.takeFront(this.#pieceBytes);
    this.#digest.update(piece);
    return piece;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
  }

  #encodeNext(): void {
    const next = this.#records.next();
    if (next.done === true) {
      this.#isEnded = true;
      this.#digest.update(this.#out.view());
      this.#frame.byte(END_TAG);
      const end = { recordCount: this.#recordCount, digest: this.#digest.hex() };
      endCodec.write(this.#frame, end);
    } else {
      this.#recordCount++;
      this.#form.record.write(this.#frame, next.value);
    }
    this.#endFrame();
  }

  #endFrame(): void {
    assert(this.#frame.length <= FRAME_BYTES_MAX, "a snapshot's record can be read again");
    this.#out.bytes(this.#frame.view());
    this.#frame.clear();
  }
}

/** The digest of all bytes that a cut gives from here on. Closes it. */
export function digestOfCut(cut: SnapshotCut): string {
  const digest = new Digest();
  for (let piece = cut.next(); piece !== undefined; piece = cut.next()) digest.update(piece);
  cut.close();
  return digest.hex();
}
