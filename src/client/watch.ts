/**
 * A watch that outlives its streams: one stream at a time, at any replica; when it ends, breaks its
 * promise or stays silent, the watch goes on at another server from the last token (law 21).
 *
 * What arrives half is dropped with its stream: the token has not moved past it, so it comes again.
 */

import { defined } from "../base/assert.ts";
import type { Bytes } from "../base/bytes.ts";
import type { Prng } from "../base/prng.ts";
import type { Result } from "../base/result.ts";
import { WHOLE_SPAN } from "../base/span.ts";
import type { Refusal, WatchFrame, WatchRequest } from "../wire/api.ts";
import { reasonRow } from "../wire/errors.ts";
import { Backoff } from "./backoff.ts";
import { type Attempt, CoordinationError, localRefusal } from "./errors.ts";
import type { Clock, Timers } from "./ports.ts";
import type { WatchInput } from "./requests.ts";
import type { SeenRevisions } from "./seen-revisions.ts";
import type { Servers } from "./servers.ts";
import { limited, linkAborts, sleep } from "./wait.ts";
import { FrameAssembler, type Positions } from "./watch-assembler.ts";

/** Servers send progress every few seconds; a stream that is silent for so long is dead. */
const SILENCE_MS = 10_000;
/** Enough to say what went on before an error, however long the watch lasted. */
const ATTEMPTS_KEPT = 16;

/** How to watch. */
export interface WatchOptions {
  /** Ends the watch, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** A stream without a frame for so long is given up; default 10,000 ms. */
  readonly silenceMs?: number | undefined;
  /** Told whenever a stream ended and the watch goes on elsewhere. */
  readonly onInterrupted?: ((attempt: Attempt) => void) | undefined;
}

export interface WatchContext {
  readonly servers: Servers;
  readonly seen: SeenRevisions;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly prng: Prng;
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
}

/** What one watch carries from stream to stream. */
interface WatchState {
  token: Bytes | undefined;
  readonly positions: Positions;
  /** A server no longer had our token: the next snapshot replaces everything. */
  startsOver: boolean;
  readonly backoff: Backoff;
  readonly tried: Set<string>;
  attempts: Attempt[];
}

/** See {@link Client.watch}. */
export async function* watchFrames(
  context: WatchContext,
  input: WatchInput,
  options: WatchOptions,
): AsyncGenerator<WatchFrame, void> {
  const linked = linkAborts(context.closed, options.signal);
  try {
    yield* streams(context, input, options, linked.signal);
  } finally {
    linked.release();
  }
}

/** One stream after another. */
async function* streams(
  context: WatchContext,
  input: WatchInput,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchFrame, void> {
  const state: WatchState = {
    token: input.resumeToken,
    positions: new Map(),
    startsOver: false,
    backoff: new Backoff(context.prng),
    tried: new Set(),
    attempts: [],
  };
  while (!signal.aborted) {
    const address = nextServer(context.servers, state);
    const startMs = context.clock.nowMs();
    const ended = yield* oneStream(context, { input, options, state, address, signal });
    if (signal.aborted) return;
    const { reason, message } = ended;
    const attempt = { address, reason, message, elapsedMs: context.clock.nowMs() - startMs };
    state.attempts = [...state.attempts, attempt].slice(-ATTEMPTS_KEPT);
    decide(ended, input, state);
    context.servers.noteFailure(address);
    options.onInterrupted?.(attempt);
    await sleep(context.timers, state.backoff.nextMs(ended.retryAfterMs ?? 0), signal);
  }
}

/** One stream, until it ends: yields whole frames, returns why it ended. */
async function* oneStream(
  context: WatchContext,
  at: {
    readonly input: WatchInput;
    readonly options: WatchOptions;
    readonly state: WatchState;
    readonly address: string;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<WatchFrame, Refusal> {
  const { servers, timers, seen } = context;
  const { state, address, signal } = at;
  const silenceMs = at.options.silenceMs ?? SILENCE_MS;
  const linked = linkAborts(signal);
  const request = watchRequest(at.input, state.token);
  const { directory } = servers.channel(address).services;
  const stream = directory.watch(request, { signal: linked.signal })[Symbol.asyncIterator]();
  const assembler = new FrameAssembler(state.positions, state.token === undefined);
  const floors = seen.floors();
  try {
    for (;;) {
      const next = await limited(stream.next(), timers, silenceMs, signal);
      if (next.kind === "aborted") return interruption(`${address}: cancelled`);
      if (next.kind === "timedOut") {
        return interruption(`${address} sent nothing for ${silenceMs} ms`);
      }
      if (next.value.done === true) return interruption(`${address} ended the watch`);
      const result: Result<WatchFrame, Refusal> = next.value.value;
      if (!result.ok) return result.error;
      const { header, kind } = result.value;
      const claim = { presentState: kind === "snapshot", isCurrent: false };
      const verdict = seen.judge(header, floors, claim);
      if (verdict === "otherCluster") return otherCluster(address, header.clusterId);
      if (verdict === "stale") {
        return interruption(
          `${address} is at revision ${header.revision}, older than what was seen`,
        );
      }
      const assembled = assembler.push(result.value);
      if (assembled.kind === "more") continue;
      if (assembled.kind === "violation") return interruption(`${address}: ${assembled.what}`);
      servers.noteAnswer(address, header);
      yield delivered(assembled.frame, state);
    }
  } finally {
    linked.abort();
    linked.release();
    void stream.return?.();
  }
}

/** The frame as its consumer gets it; the watch resumes after it from now on. */
function delivered(frame: WatchFrame, state: WatchState): WatchFrame {
  state.token = frame.resumeToken;
  state.tried.clear();
  state.attempts = [];
  state.backoff.reset();
  if (frame.kind !== "snapshot" || !state.startsOver) return frame;
  state.startsOver = false;
  return { ...frame, afterCompaction: true };
}

/** Throws what the caller must deal with; otherwise the watch goes on. */
function decide(ended: Refusal, input: WatchInput, state: WatchState): void {
  if (ended.reason === "COMPACTED" && input.failIfCompacted !== true) {
    state.startsOver = state.token !== undefined;
    state.token = undefined;
    return;
  }
  const { retry } = reasonRow(ended.reason);
  if (retry !== "never" && retry !== "refresh") return;
  throw new CoordinationError({
    refusal: ended,
    outcome: "notApplied",
    attempts: state.attempts,
    requestId: undefined,
  });
}

function nextServer(servers: Servers, state: WatchState): string {
  const spread = { group: undefined, spread: true };
  let address = servers.pick({ ...spread, exclude: state.tried });
  if (address === undefined) {
    state.tried.clear();
    const any = servers.pick({ ...spread, exclude: state.tried });
    address = defined(any, "a client has at least one server");
  }
  state.tried.add(address);
  return address;
}

function watchRequest(input: WatchInput, resumeToken: Bytes | undefined): WatchRequest {
  return {
    keyspace: input.keyspace,
    span: input.span ?? WHOLE_SPAN,
    nodeId: input.nodeId,
    resumeToken,
    failIfCompacted: input.failIfCompacted ?? false,
  };
}

function interruption(message: string): Refusal {
  return localRefusal("TRANSIENT", message);
}

function otherCluster(address: string, clusterId: string): Refusal {
  return localRefusal(
    "CLUSTER_MISMATCH",
    `${address} answers for another cluster, ${clusterId}; check the endpoints`,
    { metadata: { address, clusterId } },
  );
}
