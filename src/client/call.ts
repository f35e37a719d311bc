/**
 * One call, over as many attempts as its deadline allows, each at one server with a limit of its
 * own. What follows a refusal is the contract's table (wire/errors.ts) and nothing else:
 *
 *   never, refresh   thrown
 *   otherServer      the next server: at once while one is untried, then after a backoff
 *   sameRequest      the same for the identical request; the outcome is unknown from then on
 *   afterBackoff     the same server, after the delay that it states
 *
 * No answer counts as UNCERTAIN. Reads have no outcome: for them UNCERTAIN is like TRANSIENT.
 */

import { defined } from "../base/assert.ts";
import type { GroupId, MonotonicMs } from "../base/brands.ts";
import type { Prng } from "../base/prng.ts";
import type { Result } from "../base/result.ts";
import type { ApiServices, CallContext } from "../wire/api-services.ts";
import type { Header, Refusal, RequestId } from "../wire/api.ts";
import { reasonRow } from "../wire/errors.ts";
import { Backoff } from "./backoff.ts";
import { type Attempt, CoordinationError, localRefusal } from "./errors.ts";
import type { Clock, Timers } from "./ports.ts";
import type { SeenRevisions } from "./seen-revisions.ts";
import type { Servers } from "./servers.ts";
import { limited, linkAborts, sleep } from "./wait.ts";

/** A server that swallows packets costs at most this much of a call's time. */
const ATTEMPT_MS = 2_000;
/**
 * Channels end calls by themselves, and know then whether anything was sent; one that is so late is
 * broken, and its call counts as unanswered.
 */
const OVERDUE_MS = 100;
/** Less time than this is not worth another attempt. */
const ATTEMPT_MS_MIN = 5;

/** Limits of one call. All are safe to leave out. */
export interface CallOptions {
  /** For all attempts together, in ms. */
  readonly deadlineMs?: number | undefined;
  /** For each attempt at one server, in ms; default 2,000. */
  readonly attemptMs?: number | undefined;
  /** Ends the waiting. A mutation under way may still be applied. */
  readonly signal?: AbortSignal | undefined;
}

/** What a call is, beside its limits. */
export interface CallSpec<Answer> {
  readonly name: string;
  readonly effect: "read" | "mutation";
  /** Whose leader saves a hop; a hint. */
  readonly group: GroupId | undefined;
  /** Whether the answer claims to be the present state (law 19). */
  readonly presentState: boolean;
  readonly requestId: RequestId | undefined;
  readonly send: (services: ApiServices, context: CallContext) => Promise<Result<Answer, Refusal>>;
}

export interface CallDependencies {
  readonly servers: Servers;
  readonly seen: SeenRevisions;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly prng: Prng;
  readonly defaultDeadlineMs: number;
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
}

/** What the loop remembers between attempts. */
interface Progress {
  readonly name: string;
  readonly requestId: RequestId | undefined;
  readonly startMs: MonotonicMs;
  readonly endMs: number;
  readonly deadlineMs: number;
  readonly attempts: Attempt[];
  readonly triedInRound: Set<string>;
  readonly backoff: Backoff;
  firstRound: boolean;
  mayBeApplied: boolean;
  lastRefusal: Refusal | undefined;
  /** Asked again by "afterBackoff". */
  stayAt: string | undefined;
}

export class Caller {
  readonly #with: CallDependencies;

  constructor(dependencies: CallDependencies) {
    this.#with = dependencies;
  }

  async call<Answer extends { readonly header: Header }>(
    spec: CallSpec<Answer>,
    options: CallOptions,
  ): Promise<Answer> {
    if (options.signal === undefined) return this.#attempts(spec, options, this.#with.closed);
    const linked = linkAborts(this.#with.closed, options.signal);
    try {
      return await this.#attempts(spec, options, linked.signal);
    } finally {
      linked.release();
    }
  }

  async #attempts<Answer extends { readonly header: Header }>(
    spec: CallSpec<Answer>,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { clock, seen, servers } = this.#with;
    const progress = this.#start(spec, options);
    for (;;) {
      if (isAborted(signal)) throw cancelled(progress);
      const restMs = progress.endMs - clock.nowMs();
      if (restMs < ATTEMPT_MS_MIN) throw deadlineEnded(progress);
      const address = progress.stayAt ?? this.#nextServer(spec.group, progress);
      progress.stayAt = undefined;
      const floors = seen.floors();
      const sentMs = clock.nowMs();
      const limitMs = Math.min(restMs, options.attemptMs ?? ATTEMPT_MS);
      const result = await this.#attempt(spec, { address, limitMs, signal });
      const elapsedMs = clock.nowMs() - sentMs;
      let refusal: Refusal;
      if (result.ok) {
        const { header } = result.value;
        const { presentState, effect } = spec;
        const isCurrent = presentState || effect === "mutation";
        const verdict = seen.judge(header, floors, { presentState, isCurrent });
        if (verdict === "accepted") {
          servers.noteAnswer(address, header);
          return result.value;
        }
        refusal = unacceptable(verdict, header, address, seen);
      } else {
        refusal = result.error;
      }
      const { reason, message } = refusal;
      progress.attempts.push({ address, reason, message, elapsedMs });
      progress.lastRefusal = refusal;
      if (spec.effect === "mutation" && reasonRow(reason).outcome === "unknown") {
        progress.mayBeApplied = true;
      }
      if (isAborted(signal)) throw cancelled(progress);
      await this.#follow(refusal, address, progress, signal);
    }
  }

  #start(spec: CallSpec<unknown>, options: CallOptions): Progress {
    const startMs = this.#with.clock.nowMs();
    const deadlineMs = options.deadlineMs ?? this.#with.defaultDeadlineMs;
    return {
      name: spec.name,
      requestId: spec.requestId,
      startMs,
      endMs: startMs + deadlineMs,
      deadlineMs,
      attempts: [],
      triedInRound: new Set(),
      backoff: new Backoff(this.#with.prng),
      firstRound: true,
      mayBeApplied: false,
      lastRefusal: undefined,
      stayAt: undefined,
    };
  }

  #nextServer(group: GroupId | undefined, progress: Progress): string {
    const { servers } = this.#with;
    const next =
      servers.pick({ group, exclude: progress.triedInRound }) ??
      servers.pick({ group, exclude: new Set() });
    const address = defined(next, "a client has at least one server");
    progress.triedInRound.add(address);
    return address;
  }

  async #attempt<Answer>(
    spec: CallSpec<Answer>,
    at: { address: string; limitMs: number; signal: AbortSignal },
  ): Promise<Result<Answer, Refusal>> {
    const { servers, timers } = this.#with;
    const controller = new AbortController();
    const context = { timeoutMs: Math.max(1, Math.floor(at.limitMs)), signal: controller.signal };
    const answer = spec.send(servers.channel(at.address).services, context);
    const ended = await limited(answer, timers, at.limitMs + OVERDUE_MS, at.signal);
    if (ended.kind === "answered") return ended.value;
    controller.abort();
    const why = ended.kind === "timedOut" ? `within ${Math.round(at.limitMs)} ms` : "in time";
    return { ok: false, error: localRefusal("UNCERTAIN", `${at.address} did not answer ${why}`) };
  }

  /** Throws, or waits as prescribed; afterwards the next attempt may be made. */
  async #follow(
    refusal: Refusal,
    address: string,
    progress: Progress,
    signal: AbortSignal,
  ): Promise<void> {
    const { retry } = reasonRow(refusal.reason);
    switch (retry) {
      case "never":
      case "refresh":
        throw new CoordinationError({
          refusal,
          outcome: progress.mayBeApplied ? "unknown" : "notApplied",
          attempts: progress.attempts,
          requestId: progress.requestId,
        });
      case "afterBackoff":
        progress.stayAt = address;
        return this.#wait(refusal, progress, signal);
      case "otherServer":
      case "sameRequest":
        this.#with.servers.noteFailure(address);
        if (this.#isRoundOver(progress)) {
          progress.triedInRound.clear();
          progress.firstRound = false;
        }
        if (progress.firstRound) return;
        return this.#wait(refusal, progress, signal);
    }
  }

  #isRoundOver(progress: Progress): boolean {
    return this.#with.servers.addresses.every((address) => progress.triedInRound.has(address));
  }

  async #wait(refusal: Refusal, progress: Progress, signal: AbortSignal): Promise<void> {
    const { clock, timers } = this.#with;
    const restMs = progress.endMs - clock.nowMs();
    if (restMs < ATTEMPT_MS_MIN) throw deadlineEnded(progress);
    const isSameServer = progress.stayAt !== undefined;
    const statedMs = refusal.retryAfterMs ?? 0;
    if (isSameServer && statedMs >= restMs) throw deadlineEnded(progress);
    const atLeastMs = isSameServer ? statedMs : Math.min(statedMs, restMs / 2);
    const waitMs = progress.backoff.nextMs(atLeastMs);
    await sleep(timers, Math.min(waitMs, Math.max(atLeastMs, restMs / 2)), signal);
  }
}

/** Read anew each time: it changes while others run. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function unacceptable(
  verdict: "stale" | "otherCluster",
  header: Header,
  address: string,
  seen: SeenRevisions,
): Refusal {
  if (verdict === "otherCluster") {
    const expected = seen.clusterId ?? "";
    return localRefusal(
      "CLUSTER_MISMATCH",
      `${address} answers for cluster ${header.clusterId}, not ${expected}; check the endpoints`,
      { metadata: { address, clusterId: header.clusterId, expectedClusterId: expected } },
    );
  }
  const seenRevision = seen.revision(header.group) ?? 0;
  return localRefusal(
    "TRANSIENT",
    `${address} answered at revision ${header.revision} of group ${header.group}, older than ` +
      `${seenRevision}, which was seen before`,
    { metadata: { address, revision: String(header.revision), seen: String(seenRevision) } },
  );
}

/** The deadline is over, or the stated delay would outlast it. */
function deadlineEnded(progress: Progress): CoordinationError {
  const { attempts, deadlineMs, lastRefusal: last, mayBeApplied, name, requestId } = progress;
  const servers = new Set(attempts.map((attempt) => attempt.address)).size;
  const tried = `${attempts.length} attempt(s) at ${servers} server(s)`;
  const lastAttempt = attempts.at(-1);
  const lastWords =
    lastAttempt === undefined ? "" : `; last ${lastAttempt.reason}: ${lastAttempt.message}`;
  const remedy = mayBeApplied
    ? `it may have been applied: ${repeatAdvice(requestId)}`
    : "nothing was changed: try again later, or check that the servers run and are reachable";
  const lastReason = lastAttempt?.reason ?? "TRANSIENT";
  const settled = lastReason === "UNCERTAIN" ? "TRANSIENT" : lastReason;
  return new CoordinationError({
    refusal: localRefusal(
      mayBeApplied ? "UNCERTAIN" : settled,
      `${name} did not succeed within ${Math.round(deadlineMs)} ms, after ${tried};` +
        ` ${remedy}${lastWords}`,
      {
        metadata: last?.metadata ?? {},
        retryAfterMs: last?.retryAfterMs,
        descriptors: last?.descriptors ?? [],
      },
    ),
    outcome: mayBeApplied ? "unknown" : "notApplied",
    attempts,
    requestId,
  });
}

function cancelled(progress: Progress): CoordinationError {
  const { attempts, mayBeApplied, name, requestId } = progress;
  const remedy = mayBeApplied
    ? `it may have been applied: ${repeatAdvice(requestId)}`
    : "nothing was changed";
  return new CoordinationError({
    refusal: localRefusal(
      mayBeApplied ? "UNCERTAIN" : "TRANSIENT",
      `${name} was cancelled; ${remedy}`,
    ),
    outcome: mayBeApplied ? "unknown" : "notApplied",
    attempts,
    requestId,
  });
}

function repeatAdvice(requestId: RequestId | undefined): string {
  return requestId === undefined
    ? "repeat the same call"
    : `repeat it with request id ${requestId.clientId}/${requestId.sequence}`;
}
