// Ranges as the verbs need them: pages that all reflect one revision, and those that a verb's
// options select, by id or by span.
import type { Span } from "../../base/span.ts";
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import type { ListRangesInput } from "../../client/requests.ts";
import type { KeyspaceRecord, ListRangesAnswer, RangeRecord } from "../../wire/api.ts";
import { EXIT } from "../../wire/errors.ts";
import { CliError } from "../failure.ts";

/** Every page from the one that is asked for, all of one revision. */
export async function* rangePages(
  client: Client,
  input: ListRangesInput,
  options: CallOptions,
): AsyncGenerator<ListRangesAnswer> {
  let pageToken = input.pageToken ?? "";
  do {
    const page = await client.directory.listRanges({ ...input, pageToken }, options);
    yield page;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

/** Which ranges of a keyspace a verb is about. */
export type Selection =
  | { readonly kind: "ids"; readonly ids: readonly string[] }
  | { readonly kind: "span"; readonly span: Span };

/** The selected ranges, in key order for a span, else as they were named. */
export async function selectRanges(
  client: Client,
  keyspace: KeyspaceRecord,
  selection: Selection,
  options: CallOptions & { readonly nodeId?: string; readonly unownedOnly?: boolean },
): Promise<RangeRecord[]> {
  if (selection.kind === "ids") {
    const ranges: RangeRecord[] = [];
    for (const rangeId of selection.ids) {
      const { range } = await client.directory.getRange({ rangeId }, options);
      const owningKeyspace = range.descriptor.keyspace;
      if (owningKeyspace !== keyspace.name) {
        throw new CliError({
          message: `range ${rangeId} belongs to keyspace ${owningKeyspace}, not ${keyspace.name}`,
          exit: EXIT.conflict,
        });
      }
      ranges.push(range);
    }
    return ranges;
  }
  const { nodeId, unownedOnly, ...call } = options;
  const { span } = selection;
  return allRanges(client, { keyspace: keyspace.name, span, nodeId, unownedOnly }, call);
}

export async function allRanges(
  client: Client,
  input: ListRangesInput,
  options: CallOptions,
): Promise<RangeRecord[]> {
  const ranges: RangeRecord[] = [];
  for await (const page of rangePages(client, input, options)) ranges.push(...page.ranges);
  return ranges;
}
