/**
 * The fetching side of snapshot files: each fetch has a connection of its own, so that bulk never
 * stands before a heartbeat, and is cut when the fetch ends, whatever state it is in.
 */

import type { ServiceError } from "@grpc/grpc-js";
import type { ServerId } from "../base/brands.ts";
import type { SnapshotChunk, SnapshotRequest, SnapshotSource } from "../replica/ports.ts";
import { invalidArgumentText } from "../wire/fields.ts";
import type { SnapshotChunk__Output } from "../wire/generated/cadastre/peer/v1/SnapshotChunk.ts";
import { fetchSnapshotToProto, protoToChunk } from "../wire/peer-snapshot.ts";
import { readableCause } from "../wire/status-details.ts";
import { localIds } from "./handshake.ts";
import { openPeerChannel } from "./peer-channel.ts";
import type { NetworkContext } from "./peer-link.ts";
import { snapshotChannelOptions } from "./tuning.ts";

/** Why a peer's file did not come. The message has one line. */
class SnapshotFetchError extends Error {
  override readonly name = "SnapshotFetchError";
}

export class GrpcSnapshotSource implements SnapshotSource {
  readonly #context: NetworkContext;
  readonly #addressOf: (peer: ServerId) => string | undefined;
  readonly #closing = new AbortController();

  constructor(context: NetworkContext, addressOf: (peer: ServerId) => string | undefined) {
    this.#context = context;
    this.#addressOf = addressOf;
  }

  async *fetch(
    from: ServerId,
    request: SnapshotRequest,
    signal: AbortSignal,
  ): AsyncGenerator<SnapshotChunk, undefined, undefined> {
    const address = this.#addressOf(from);
    if (address === undefined) throw new SnapshotFetchError(`server ${from} is not known`);
    const channel = openPeerChannel(address, snapshotChannelOptions(this.#context.tuning));
    const ids = localIds(this.#context, from);
    const call = channel.client.fetchSnapshot(fetchSnapshotToProto({ ids, request }));
    // Its end is told to whoever iterates; a stream without a listener would throw.
    call.on("error", () => {});
    const idle = { isOver: false };
    const cut = (): void => {
      call.cancel();
      channel.cut();
    };
    const watch = (): (() => void) =>
      this.#context.timers.after(this.#context.tuning.snapshotIdleMs, () => {
        idle.isOver = true;
        cut();
      });
    let cancelTimer = watch();
    const signals = [signal, this.#closing.signal];
    for (const one of signals) one.addEventListener("abort", cut);
    try {
      if (signals.some(({ aborted }) => aborted)) throw new SnapshotFetchError("it was given up");
      for await (const proto of call as AsyncIterable<SnapshotChunk__Output>) {
        cancelTimer();
        const chunk = protoToChunk(proto);
        if (!chunk.ok) throw new SnapshotFetchError(invalidArgumentText(chunk.error));
        yield chunk.value;
        cancelTimer = watch();
      }
      return undefined;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      const cause = readableCause(error.details || error.message);
      const silent = `nothing came for ${this.#context.tuning.snapshotIdleMs} ms`;
      throw new SnapshotFetchError(`server ${from}: ${idle.isOver ? silent : cause}`, {
        cause: error,
      });
    } finally {
      cancelTimer();
      for (const one of signals) one.removeEventListener("abort", cut);
      cut();
    }
  }

  /** Fetches that are under way fail. */
  close(): void {
    this.#closing.abort();
  }
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}
