/**
 * What a server that takes no part answers: a refusal that sends clients to another server, for
 * everything but its own status. Streams that were open end with the same refusal.
 */

import { defined } from "../../base/assert.ts";
import { failed, type Result } from "../../base/result.ts";
import type { Abstention, Refusal } from "../../wire/api.ts";
import type { ApiServices, ServerStream, Unary } from "../../wire/api-services.ts";
import { methodRows } from "../../wire/methods.ts";
import { refusal } from "../../wire/refusal.ts";

/** About how long a quick repair takes; clients go to another server at once anyway. */
const RETRY_MS = 1_000;

/** The services as the table of methods sees them: each row is of the types of its method. */
type Method = Unary<unknown, unknown> & ServerStream<unknown, unknown>;
type LooseServices = Readonly<Record<string, Readonly<Record<string, Method>>>>;

export function refuseAbstaining({ reason, details }: Abstention): Refusal {
  const message = `this server takes no part (${reason}), ask another; details: ${details}`;
  return refusal("TRANSIENT", message, { metadata: { cause: reason }, retryAfterMs: RETRY_MS });
}

/** The same services while there is no abstention. Without `services` there always is one. */
export function gatedServices(
  services: Omit<ApiServices, "cluster"> | undefined,
  cluster: ApiServices["cluster"],
  abstention: () => Abstention | undefined,
): ApiServices {
  const inner = services as unknown as LooseServices | undefined;
  const gated: Record<string, Record<string, unknown>> = {};
  for (const { service, method, row } of methodRows()) {
    if (service === "cluster") continue;
    const call = (): Method => {
      const owner = defined(inner?.[service], "a server that takes part has services");
      return defined(owner[method], "the services have every method").bind(owner) as Method;
    };
    const gate =
      row.kind === "unary" ? gatedUnary(call, abstention) : gatedStream(call, abstention);
    (gated[service] ??= {})[method] = gate;
  }
  return { ...(gated as unknown as ApiServices), cluster };
}

function gatedUnary(
  call: () => Method,
  abstention: () => Abstention | undefined,
): Unary<unknown, unknown> {
  return (request, context) => {
    const abstains = abstention();
    if (abstains !== undefined) return Promise.resolve(failed(refuseAbstaining(abstains)));
    return call()(request, context) as Promise<Result<unknown, Refusal>>;
  };
}

function gatedStream(
  call: () => Method,
  abstention: () => Abstention | undefined,
): ServerStream<unknown, unknown> {
  return (request, context) => ({
    [Symbol.asyncIterator]: () =>
      new GatedFrames(() => {
        const stream = call()(request, context) as AsyncIterable<Frame>;
        return stream[Symbol.asyncIterator]();
      }, abstention),
  });
}

type Frame = Result<unknown, Refusal>;

/** Not a generator: closing one that waits for its next frame would wait for that frame. */
class GatedFrames implements AsyncIterator<Frame> {
  readonly #open: () => AsyncIterator<Frame>;
  readonly #abstention: () => Abstention | undefined;
  #inner: AsyncIterator<Frame> | undefined;
  #hasEnded = false;

  constructor(open: () => AsyncIterator<Frame>, abstention: () => Abstention | undefined) {
    this.#open = open;
    this.#abstention = abstention;
  }

  async next(): Promise<IteratorResult<Frame>> {
    if (this.#hasEnded) return { done: true, value: undefined };
    if (this.#abstention() === undefined) {
      this.#inner ??= this.#open();
      const frame = await this.#inner.next();
      if (frame.done === true || this.#abstention() === undefined) return frame;
    }
    const abstains = this.#abstention();
    this.#hasEnded = true;
    await this.#inner?.return?.();
    // It may have been admitted at this very moment: the caller comes back, as after any refusal.
    return { done: false, value: failed(refuseAbstaining(abstains ?? ADMITTED_NOW)) };
  }

  async return(): Promise<IteratorResult<Frame>> {
    this.#hasEnded = true;
    await this.#inner?.return?.();
    return { done: true, value: undefined };
  }
}

const ADMITTED_NOW: Abstention = { reason: "notAdmitted", details: "it was admitted meanwhile" };
