/**
 * Turns the frames of one watch stream into whole frames: a cut snapshot or a cut revision is held
 * back until its last part is there, so that whoever acts on a frame acts on a complete one.
 *
 * It also holds the stream to its promise (law 21): per group, revisions strictly increase, nothing
 * comes twice, progress never goes back, and nothing comes before the snapshot that was asked for.
 * The cost: a snapshot is in memory twice while it is put together.
 */

import type { GroupId, Revision } from "../base/brands.ts";
import type { RangeChange, RangeRecord, WatchFrame } from "../wire/api.ts";

/** What has been delivered up to, per group: kept over all streams of one watch. */
export type Positions = Map<GroupId, Revision>;

/** "more": held back. "violation": the stream is not to be trusted any further. */
export type Assembled =
  | { readonly kind: "frame"; readonly frame: WatchFrame }
  | { readonly kind: "more" }
  | { readonly kind: "violation"; readonly what: string };

interface RevisionParts {
  readonly revision: Revision;
  readonly changes: RangeChange[];
}

type SnapshotFrame = Extract<WatchFrame, { kind: "snapshot" }>;
type ChangesFrame = Extract<WatchFrame, { kind: "changes" }>;

/** For one stream; a new stream gets a new assembler, and half of what was cut is forgotten. */
export class FrameAssembler {
  readonly #positions: Positions;
  #awaitsSnapshot: boolean;
  #snapshotParts: RangeRecord[] | undefined;
  #snapshotIsMarked = false;
  #revisionParts: RevisionParts[] | undefined;
  #partsGroup: GroupId | undefined;

  /** `positions` rises with every delivered frame; `awaitsSnapshot`: no token was sent. */
  constructor(positions: Positions, awaitsSnapshot: boolean) {
    this.#positions = positions;
    this.#awaitsSnapshot = awaitsSnapshot;
  }

  push(frame: WatchFrame): Assembled {
    const cutOff = this.#brokenOff(frame);
    if (cutOff !== undefined) return violation(cutOff);
    switch (frame.kind) {
      case "snapshot":
        return this.#onSnapshot(frame);
      case "changes":
        return this.#onChanges(frame);
      case "progress": {
        if (this.#awaitsSnapshot) return violation("progress before the snapshot");
        const { group, revision } = frame.header;
        const position = this.#position(group);
        if (revision < position) return violation(`progress fell from ${position} to ${revision}`);
        return this.#deliver(frame, revision);
      }
    }
  }

  #onSnapshot(frame: SnapshotFrame): Assembled {
    const { group, revision } = frame.header;
    if (frame.first !== (this.#snapshotParts === undefined)) {
      return violation("the parts of a snapshot are out of order");
    }
    if (revision < this.#position(group)) {
      return violation(`a snapshot at ${revision}, older than ${this.#position(group)}`);
    }
    this.#partsGroup = group;
    this.#snapshotIsMarked ||= frame.afterCompaction;
    const ranges = this.#snapshotParts ?? [];
    for (const range of frame.ranges) ranges.push(range);
    this.#snapshotParts = frame.last ? undefined : ranges;
    if (!frame.last) return { kind: "more" };
    const afterCompaction = this.#snapshotIsMarked;
    this.#snapshotIsMarked = false;
    this.#awaitsSnapshot = false;
    return this.#deliver({ ...frame, ranges, first: true, afterCompaction }, revision);
  }

  #onChanges(frame: ChangesFrame): Assembled {
    if (this.#awaitsSnapshot) return violation("changes before the snapshot");
    const { group } = frame.header;
    const revisions = this.#revisionParts ?? [];
    let cut = revisions.at(-1);
    let before = cut?.revision ?? this.#position(group);
    for (const { revision, changes } of frame.revisions) {
      if (cut !== undefined) {
        if (revision !== cut.revision) return violation(`revision ${cut.revision} broke off`);
        for (const change of changes) cut.changes.push(change);
        cut = undefined;
        continue;
      }
      if (revision <= before) return violation(`revision ${revision} came after ${before}`);
      before = revision;
      revisions.push({ revision, changes: [...changes] });
    }
    this.#partsGroup = group;
    this.#revisionParts = frame.continues ? revisions : undefined;
    if (frame.continues) return { kind: "more" };
    if (revisions.length === 0) return violation("changes without a revision");
    return this.#deliver({ ...frame, revisions, continues: false }, before);
  }

  /** What was cut must be finished by frames of its own kind and group. */
  #brokenOff(frame: WatchFrame): string | undefined {
    const isCut = this.#snapshotParts !== undefined || this.#revisionParts !== undefined;
    if (!isCut) return undefined;
    const kind = this.#snapshotParts === undefined ? "changes" : "snapshot";
    if (frame.kind === kind && frame.header.group === this.#partsGroup) return undefined;
    return `cut ${kind} broken off by ${frame.kind} of group ${frame.header.group}`;
  }

  #deliver(frame: WatchFrame, position: Revision): Assembled {
    if (frame.resumeToken === undefined) return violation("a whole frame without a resume token");
    this.#positions.set(frame.header.group, position);
    return { kind: "frame", frame };
  }

  #position(group: GroupId): Revision {
    return this.#positions.get(group) ?? (0 as Revision);
  }
}

function violation(what: string): Assembled {
  return { kind: "violation", what };
}
