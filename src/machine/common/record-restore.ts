/**
 * Reads a snapshot piece by piece and gives its records to a builder. Total: any bytes give an
 * error or a state, and memory grows with the bytes that came, whatever lengths they claim.
 */

import type { Bytes } from "../../base/bytes.ts";
import { generationOf, type GroupId } from "../../base/brands.ts";
import { decode } from "../../base/codec.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { SnapshotRestore } from "../group.ts";
import { Digest } from "./digest.ts";
import {
  END_TAG,
  endCodec,
  FRAME_BYTES_MAX,
  judgePrelude,
  positionCodec,
  PRELUDE_BYTES,
  type SnapshotForm,
  type SnapshotPosition,
} from "./snapshot-form.ts";

/** Makes a state of its own from records. Each method answers what is wrong, or undefined. */
export interface StateBuilder<Stored> {
  begin(position: SnapshotPosition): void;
  take(record: Stored): string | undefined;
  /** No record is missing. */
  end(): string | undefined;
  /** Makes the state the machine's. */
  install(): void;
}

/** Who asks for the snapshot. */
export interface Restorer {
  readonly group: GroupId;
  readonly generation: number;
}

type Stage = "prelude" | "position" | "records" | "ended" | "finished";

export class RecordRestore<Stored> implements SnapshotRestore {
  readonly #form: SnapshotForm<Stored>;
  readonly #restorer: Restorer;
  readonly #builder: StateBuilder<Stored>;
  readonly #digest = new Digest();
  #stage: Stage = "prelude";
  #failure: string | undefined;
  #recordCount = 0;
  /** The first #length bytes are a part that is not complete yet. */
  #buffer: Bytes = new Uint8Array(0);
  #length = 0;

  constructor(form: SnapshotForm<Stored>, restorer: Restorer, builder: StateBuilder<Stored>) {
    this.#form = form;
    this.#restorer = restorer;
    this.#builder = builder;
  }

  get isWhole(): boolean {
    return this.#failure === undefined && this.#stage === "ended";
  }

  accept(bytes: Bytes): Result<void, string> {
    if (this.#failure !== undefined) return failed(this.#failure);
    this.#append(bytes);
    this.#failure = this.#consume();
    return this.#failure === undefined ? ok(undefined) : failed(this.#failure);
  }

  finish(): Result<void, string> {
    if (this.#failure !== undefined) return failed(this.#failure);
    if (this.#stage !== "ended") {
      return failed("the snapshot is cut short or was used before: fetch it again");
    }
    this.#stage = "finished";
    this.#builder.install();
    return ok(undefined);
  }

  #append(bytes: Bytes): void {
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, this.#buffer.length * 2));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }

  /** Takes all complete parts from the buffer. */
  #consume(): string | undefined {
    let at = 0;
    let hashed = 0;
    let failure: string | undefined;
    while (failure === undefined) {
      const part = this.#nextPart(at);
      if (typeof part === "string") return part;
      if (part === undefined) break;
      // The digest of all bytes before the end mark stands in it: it is due when the mark is seen.
      if (this.#stage === "records" && part.payload[0] === END_TAG) {
        this.#digest.update(this.#buffer.subarray(hashed, at));
        hashed = part.end;
      }
      failure = this.#take(part.payload);
      at = part.end;
    }
    if (failure === undefined) {
      this.#digest.update(this.#buffer.subarray(hashed, at));
      this.#buffer.copyWithin(0, at, this.#length);
      this.#length -= at;
    }
    return failure;
  }

  /** The prelude or frame at a position; undefined: it is not complete; a text: it is wrong. */
  #nextPart(at: number): { readonly payload: Bytes; readonly end: number } | string | undefined {
    if (this.#stage === "ended" || this.#stage === "finished") {
      return this.#length > at ? "bytes follow the snapshot's end: fetch it again" : undefined;
    }
    let start = at;
    let length = PRELUDE_BYTES;
    if (this.#stage !== "prelude") {
      length = 0;
      for (let factor = 1, byte = 0x80; byte >= 0x80; factor *= 0x80) {
        if (start === this.#length) return undefined;
        byte = this.#buffer[start++] as number;
        length += (byte & 0x7f) * factor;
        const isBad = length > FRAME_BYTES_MAX || start - at > 4 || (byte === 0 && factor > 1);
        if (isBad) return DAMAGED;
      }
    }
    const end = start + length;
    if (end > this.#length) return undefined;
    return { payload: this.#buffer.subarray(start, end), end };
  }

  #take(payload: Bytes): string | undefined {
    switch (this.#stage) {
      case "prelude":
        this.#stage = "position";
        return judgePrelude(this.#form, payload);
      case "position":
        this.#stage = "records";
        return this.#begin(payload);
      case "records":
        return payload[0] === END_TAG ? this.#end(payload.subarray(1)) : this.#record(payload);
      case "ended":
      case "finished":
        return DAMAGED;
    }
  }

  #begin(payload: Bytes): string | undefined {
    const position = decode(positionCodec, payload);
    if (!position.ok) return DAMAGED;
    const { group, revision } = position.value;
    if (group !== this.#restorer.group || generationOf(revision) !== this.#restorer.generation) {
      const own = `group ${this.#restorer.group}, generation ${this.#restorer.generation}`;
      const theirs = `group ${group}, generation ${generationOf(revision)}`;
      return `the snapshot is of ${theirs} and this replica of ${own}: give it one of its own`;
    }
    this.#builder.begin(position.value);
    return undefined;
  }

  #record(payload: Bytes): string | undefined {
    const record = decode(this.#form.record, payload);
    this.#recordCount++;
    if (!record.ok) return `${DAMAGED} (record ${this.#recordCount}: ${record.error})`;
    const wrong = this.#builder.take(record.value);
    return wrong === undefined ? undefined : `${DAMAGED} (record ${this.#recordCount}: ${wrong})`;
  }

  #end(payload: Bytes): string | undefined {
    const end = decode(endCodec, payload);
    if (!end.ok) return DAMAGED;
    const { recordCount, digest } = end.value;
    if (recordCount !== this.#recordCount) return `${DAMAGED} (records are missing)`;
    if (digest !== this.#digest.hex()) return `${DAMAGED} (its digest is another)`;
    this.#stage = "ended";
    const wrong = this.#builder.end();
    return wrong === undefined ? undefined : `${DAMAGED} (${wrong})`;
  }
}

const DAMAGED = "the snapshot is damaged: fetch it again from another server";
