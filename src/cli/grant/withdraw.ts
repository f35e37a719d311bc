// Takes back the successor that was recorded for a range, as long as the present owner holds it
// and nothing else has changed.
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import { EXIT } from "../../wire/errors.ts";
import type { CliContext } from "../context.ts";
import { findKeyspace } from "../directory/keyspaces.ts";
import { CliError } from "../failure.ts";
import { rangeJson } from "../render/json.ts";
import { holderText } from "../render/owner.ts";

export async function withdrawSuccessor(
  client: Client,
  context: CliContext,
  rangeId: string,
  call: CallOptions,
): Promise<void> {
  const { range: before } = await client.directory.getRange({ rangeId }, call);
  const { descriptor, successor } = before;
  if (successor === undefined) {
    throw new CliError({
      message: `range ${rangeId} has no successor (${holderText(before)})`,
      exit: EXIT.conflict,
    });
  }
  const { kind } = await findKeyspace(client, descriptor.keyspace, call);
  const { range } = await client.ownership.withdrawSuccessor(
    {
      group: descriptor.group,
      rangeId,
      expectedEpoch: descriptor.epoch,
      expectedDescriptorRevision: descriptor.descriptorRevision,
    },
    call,
  );
  context.print({
    json: () => ({ range: rangeJson(range, kind) }),
    text: () =>
      `Range ${rangeId} stays with ${holderText(range)}; ${successor.nodeId} is withdrawn.`,
  });
}
