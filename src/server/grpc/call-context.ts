/**
 * What a service is told about its caller: the time that is left, and a signal for when nobody
 * waits any more. The signal is made only when it is asked for: most calls are short and don't.
 */

import type { Deadline } from "@grpc/grpc-js";
import type { CallContext } from "../../wire/api-services.ts";
import { DEADLINE_MS_DEFAULT, DEADLINE_MS_MAX } from "../../wire/limits.ts";

/** The part of a grpc-js server call that is needed here. */
export interface IncomingCall {
  getDeadline(): Deadline;
  on(event: "cancelled", listener: () => void): unknown;
}

/** The client's deadline as time left, else the default; capped. May be negative. */
export function timeLeftMs(deadline: Deadline, nowMs: number): number {
  const endMs = Number(deadline);
  return Number.isFinite(endMs) ? Math.min(endMs - nowMs, DEADLINE_MS_MAX) : DEADLINE_MS_DEFAULT;
}

export interface CallScope {
  readonly context: CallContext & { readonly signal: AbortSignal };
  /** From now on a cancellation concerns nobody: grpc-js tells of one after every answer, too. */
  readonly settle: () => void;
}

export function openScope(call: IncomingCall): CallScope {
  let controller: AbortController | undefined;
  let state: "running" | "cancelled" | "settled" = "running";
  call.on("cancelled", () => {
    if (state !== "running") return;
    state = "cancelled";
    controller?.abort();
  });
  return {
    context: {
      timeoutMs: timeLeftMs(call.getDeadline(), Date.now()),
      get signal(): AbortSignal {
        if (controller === undefined) {
          controller = new AbortController();
          if (state === "cancelled") controller.abort();
        }
        return controller.signal;
      },
    },
    settle: () => {
      if (state === "running") state = "settled";
    },
  };
}
