// The registered storage nodes: all pages, and those that a verb names, with a hint when one is
// misspelt.
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import { nearMiss } from "../../server/config/near-miss.ts";
import type { Header, NodeRecord } from "../../wire/api.ts";
import { EXIT } from "../../wire/errors.ts";
import { CliError } from "../failure.ts";

export interface AllNodes {
  readonly header: Header;
  readonly nodes: readonly NodeRecord[];
}

export async function listAllNodes(client: Client, options: CallOptions): Promise<AllNodes> {
  const first = await client.directory.listNodes({}, options);
  const nodes = [...first.nodes];
  let pageToken = first.nextPageToken;
  while (pageToken !== "") {
    const page = await client.directory.listNodes({ pageToken }, options);
    nodes.push(...page.nodes);
    pageToken = page.nextPageToken;
  }
  return { header: first.header, nodes };
}

export function nodeNamed(nodes: readonly NodeRecord[], nodeId: string): NodeRecord {
  const found = nodes.find((node) => node.nodeId === nodeId);
  if (found !== undefined) return found;
  const meant = nearMiss(
    nodeId,
    nodes.map((node) => node.nodeId),
  );
  throw new CliError({
    message: `there is no storage node "${nodeId}"`,
    remedy:
      meant === undefined
        ? "`cadastre node list` shows those that are registered"
        : `did you mean ${meant}?`,
    exit: EXIT.notFound,
  });
}
