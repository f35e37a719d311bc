/**
 * Property 14: a linearizable read covers everything that any replica had applied when it began; a
 * read shows exactly the map at the revision that it states; what a mutation acknowledges stands in
 * the log at that revision.
 *
 * Judged when a service answers, whether or not the answer reaches anybody.
 */

import type { Bytes } from "../../../src/base/bytes.ts";
import { spanContains } from "../../../src/base/span.ts";
import type { ServedAnswer, ServedCall } from "../../../src/testing/faulty-channels.ts";
import type * as api from "../../../src/wire/api.ts";
import type { Covered } from "../coverage.ts";
import { hashOf } from "../hash.ts";
import { must } from "../must.ts";
import type { ShardOracle } from "../oracle.ts";
import { SHARD } from "../virtual-cluster.ts";
import { wireRecordOf } from "../wire-records.ts";

type Judge = (answer: ServedAnswer) => void;

export class ReadsChecker {
  readonly #oracle: ShardOracle;
  readonly #count: (what: Covered) => void;

  constructor(oracle: ShardOracle, count: (what: Covered) => void) {
    this.#oracle = oracle;
    this.#count = count;
  }

  /** A service begins a call; the answer is judged by what it gives. */
  onServe({ service, method, request }: ServedCall): Judge {
    const appliedBefore = this.#oracle.revision;
    return (answer) => {
      if (!answer.ok || answer.value.header.group !== SHARD) return;
      const { revision } = answer.value.header;
      must(revision <= this.#oracle.revision, 14, `${method} shows ${revision}, not yet applied`);
      if (service === "directory") this.#judgeRead(method, request, answer.value, appliedBefore);
    };
  }

  #judgeRead(method: string, request: unknown, answer: unknown, appliedBefore: number): void {
    const { read } = request as { readonly read?: api.ReadOptions };
    if (read === undefined) return;
    const { header } = answer as api.ReadAnswer;
    const { revision } = header;
    const isFirstPage = !hasPageToken(request);
    if (read.kind === "linearizable") {
      const isCurrent = !isFirstPage || revision >= appliedBefore;
      must(isCurrent, 14, `${method} shows ${revision} after ${appliedBefore} was applied`);
      this.#count("linearizableReads");
    } else if (read.kind === "atLeast") {
      const isRecent = revision >= read.revision;
      must(isRecent, 14, `${method} shows ${revision}, was asked for ${read.revision}`);
      this.#count("followerReads");
    } else {
      this.#count("localReads");
    }
    switch (method) {
      case "lookup": {
        const { key, keyspace } = request as api.LookupRequest;
        this.#checkRoute(keyspace, key, (answer as api.LookupAnswer).route, revision);
        return;
      }
      case "lookupBatch": {
        const { keys, keyspace } = request as api.LookupBatchRequest;
        const { routes, routeOfKey } = answer as api.LookupBatchAnswer;
        for (const [at, key] of keys.entries()) {
          const route = routes[routeOfKey[at] ?? -1];
          must(route !== undefined, 14, "a batch answers every key");
          this.#checkRoute(keyspace, key, route, revision);
        }
        return;
      }
      case "getRange":
        this.#checkRecord((answer as api.GetRangeAnswer).range, revision);
        return;
      case "listRanges":
        for (const range of (answer as api.ListRangesAnswer).ranges) {
          this.#checkRecord(range, revision);
        }
    }
  }

  #checkRoute(keyspace: string, key: Bytes, route: api.Route, revision: number): void {
    const { descriptor, intendedNodeId } = route;
    must(descriptor.keyspace === keyspace, 14, "a route is of the keyspace that was asked for");
    must(spanContains(descriptor.span, key), 14, `${descriptor.rangeId} does not hold the key`);
    const record = this.#oracle.versions.at(descriptor.rangeId, revision);
    const expected = record && wireRecordOf(record, keyspace, SHARD);
    const isSame =
      hashOf(expected?.descriptor) === hashOf(descriptor) &&
      expected?.intendedNodeId === intendedNodeId;
    must(isSame, 14, `${descriptor.rangeId} is not as it was at ${revision}`);
  }

  #checkRecord(range: api.RangeRecord, revision: number): void {
    const { rangeId, keyspace } = range.descriptor;
    const record = this.#oracle.versions.at(rangeId, revision);
    const expected = record && wireRecordOf(record, keyspace, SHARD);
    must(hashOf(expected) === hashOf(range), 14, `${rangeId} is not as it was at ${revision}`);
  }
}

function hasPageToken(request: unknown): boolean {
  const { pageToken = "" } = request as { readonly pageToken?: string };
  return pageToken !== "";
}
