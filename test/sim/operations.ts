/**
 * What clients were told, written down for the judge (property 13): every grant, acceptance,
 * release and look-up, with when it began and ended in true time.
 */

import type { Client } from "../../src/client/client.ts";
import { CoordinationError } from "../../src/client/errors.ts";
import type { RangeEpoch, RangeEpochsRequest } from "../../src/wire/api.ts";
import { judge, type Operation, type Witness } from "../history/judge.ts";
import { BrokenProperty } from "./must.ts";
import type { ShardOracle } from "./oracle.ts";
import { SHARD } from "./virtual-cluster.ts";
import { wireRecordOf } from "./wire-records.ts";

export class Operations {
  readonly #noted: (Operation | undefined)[] = [];
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get list(): readonly Operation[] {
    return this.#noted.flatMap((operation) => operation ?? []);
  }

  /**
   * Writes an operation down as one that is never answered, which it is if its process dies. To be
   * replaced by what it turns out to be; undefined: it certainly had no effect.
   */
  begin(unanswered: Operation): (operation: Operation | undefined) => void {
    const at = this.#noted.push(unanswered) - 1;
    return (operation) => {
      this.#noted[at] = operation;
    };
  }

  note(operation: Operation): void {
    this.#noted.push(operation);
  }

  /** Writes down what a seat asks by itself through this client. */
  listenTo(client: Client, name: string): void {
    const { ownership } = client;
    const methods = ownership as { -readonly [Name in keyof typeof ownership]: unknown };
    for (const kind of ["accept", "release"] as const) {
      const call = ownership[kind];
      methods[kind] = async (request: RangeEpochsRequest, options?: object) => {
        const startedAt = this.#nowMs();
        const held = request.ranges.map((range) => ({
          client: name,
          startedAt,
          endedAt: Number.POSITIVE_INFINITY,
          kind,
          rangeId: range.rangeId,
          epoch: range.epoch,
          nodeId: request.owner.nodeId,
          outcome: { kind: "unknown" } as const,
        }));
        const ends = held.map((operation) => this.begin(operation));
        try {
          const { header, outcomes } = await call(request, options);
          const { revision } = header;
          for (const [at, operation] of held.entries()) {
            const item = outcomes.find(({ rangeId }) => rangeId === operation.rangeId);
            if (item === undefined) continue;
            // Taken back meanwhile, so that it stays with its owner; or done by an earlier attempt.
            if (item.refused !== undefined && isHandOver(request.ranges[at])) continue;
            // It stays with its owner until its lease has run out.
            if (item.refused === "SESSION_CLOSED") continue;
            const outcome = { kind: item.refused === undefined ? "done" : "refused", revision };
            ends[at]?.({ ...operation, endedAt: this.#nowMs(), outcome } as Operation);
          }
          return { header, outcomes };
        } catch (error) {
          const isWithoutEffect =
            error instanceof CoordinationError && error.outcome === "notApplied";
          if (isWithoutEffect) for (const end of ends) end(undefined);
          throw error;
        }
      };
    }
  }

  /** Throws when what was told does not fit what the log did. */
  judge(oracle: ShardOracle): void {
    const problems = judge(this.list, witnessOf(oracle));
    if (problems.length > 0) throw new BrokenProperty(13, problems.slice(0, 5).join("\n"));
  }
}

function isHandOver(range: RangeEpoch | undefined): boolean {
  return range !== undefined && "handOverRevision" in range && range.handOverRevision !== 0;
}

/** The log's own account, in place of a watch. */
function witnessOf({ versions, keyspaceIds }: ShardOracle): Witness {
  const names = new Map([...keyspaceIds].map(([name, id]) => [id, name]));
  const changes = versions.revisions.map(({ revision, changes: seen }) => ({
    revision,
    changes: seen.map(({ cause, keyspaceId, before, after }) => {
      const name = names.get(keyspaceId) ?? "";
      return {
        cause,
        before: before && wireRecordOf(before, name, SHARD),
        after: after && wireRecordOf(after, name, SHARD),
      };
    }),
  }));
  return { startRevision: 0, start: [], changes };
}
