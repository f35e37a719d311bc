// Asks every server of the cluster for itself, with a limit for each, so that a dead one costs a
// row and not the answer: first the endpoints, then the servers that their answers name.
import type { ServerChannel } from "../../client/channel.ts";
import type { Connection } from "../verb-world.ts";
import { type ServerAnswer, unaskedAddresses } from "./cluster-health.ts";

const SERVER_TIMEOUT_MS = 2_000;

export async function askServers(
  connection: Connection,
  options: { readonly timeoutMs: number; readonly nowMs: () => number },
): Promise<readonly ServerAnswer[]> {
  const addresses = [...new Set(connection.endpoints)];
  const first = await askAll(connection, addresses, options);
  const others = await askAll(connection, unaskedAddresses(first), options);
  return [...first, ...others];
}

function askAll(
  connection: Connection,
  addresses: readonly string[],
  options: { readonly timeoutMs: number; readonly nowMs: () => number },
): Promise<ServerAnswer[]> {
  return Promise.all(addresses.map((address) => ask(connection.channels(address), options)));
}

async function ask(
  channel: ServerChannel,
  options: { readonly timeoutMs: number; readonly nowMs: () => number },
): Promise<ServerAnswer> {
  const { address, services } = channel;
  const sentMs = options.nowMs();
  const timeoutMs = Math.min(options.timeoutMs, SERVER_TIMEOUT_MS);
  try {
    const result = await services.cluster.getStatus({}, { timeoutMs });
    const elapsedMs = Math.round(options.nowMs() - sentMs);
    return result.ok
      ? { address, elapsedMs, status: result.value, error: undefined }
      : { address, elapsedMs, status: undefined, error: result.error.message };
  } finally {
    channel.close();
  }
}
