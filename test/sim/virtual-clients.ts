// Clients of a virtual cluster for tests of single cases: real clients over channels onto whole
// servers. A call takes 1 ms each way, ends with its server, and can be tampered with on its way
// back, after it took effect.
import type { ServerId } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import { failed, type Result } from "../../src/base/result.ts";
import type { ServerChannel } from "../../src/client/channel.ts";
import { Client } from "../../src/client/client.ts";
import { localRefusal } from "../../src/client/errors.ts";
import { calledServices } from "../../src/testing/called-services.ts";
import type { Refusal } from "../../src/wire/api.ts";
import type { ApiServices, CallContext } from "../../src/wire/api-services.ts";
import type { VirtualCluster } from "./virtual-cluster.ts";

const ONE_WAY_MS = 1;

export type Answer = Result<unknown, Refusal>;

export interface AnsweredCall {
  readonly server: ServerId;
  readonly method: string;
  readonly request: unknown;
}

/** What becomes of an answer on its way back; undefined: it is lost, and nothing comes. */
export type Tamper = (call: AnsweredCall, answer: Answer) => Answer | undefined;

export class VirtualClients {
  /** Every call that a server has answered, in order. */
  readonly answered: AnsweredCall[] = [];
  tamper: Tamper = (_call, answer) => answer;
  readonly #cluster: VirtualCluster;
  #made = 0;

  constructor(cluster: VirtualCluster) {
    this.#cluster = cluster;
  }

  /** The calls of one method that were answered. */
  answeredOf(method: string): AnsweredCall[] {
    return this.answered.filter((call) => call.method === method);
  }

  client(clientId: string): Client {
    const { clock, ids } = this.#cluster;
    return new Client({
      endpoints: ids.map((id) => `server-${id}:1`),
      channels: (address) => this.channel(address),
      clock,
      timers: clock,
      prng: Prng.fromSeed(++this.#made),
      clientId,
    });
  }

  channel(address: string): ServerChannel {
    const server = Number(/^server-(\d+):/.exec(address)?.[1]) as ServerId;
    const services = calledServices(
      (service, method) => (request: unknown, context: CallContext) =>
        this.#call({ server, method, request }, service, context),
    );
    return { address, services, close: () => {} };
  }

  /** As the port promises: TRANSIENT if nothing was sent, UNCERTAIN if no answer came. */
  #call(call: AnsweredCall, name: keyof ApiServices, context: CallContext): Promise<Answer> {
    const { clock, runningIds } = this.#cluster;
    const { server, method, request } = call;
    const isUp = (): boolean => this.#cluster.runningIds.includes(server);
    return new Promise((resolve) => {
      if (!runningIds.includes(server)) {
        clock.after(ONE_WAY_MS, () => resolve(refuse("TRANSIENT", "nothing was sent")));
        return;
      }
      const cancel = clock.after(context.timeoutMs, () =>
        resolve(refuse("UNCERTAIN", "no answer")),
      );
      const end = (answer: Answer): void => {
        cancel();
        resolve(answer);
      };
      clock.after(ONE_WAY_MS, () => {
        if (!isUp()) return end(refuse("UNCERTAIN", "the connection was lost"));
        const core = this.#cluster.core(server);
        const methods = core.services[name] as unknown as Record<string, Method>;
        const timeoutMs = context.timeoutMs - 2 * ONE_WAY_MS;
        void methods[method]?.(request, { timeoutMs }).then((answer) => {
          if (!isUp()) return end(refuse("UNCERTAIN", "the connection was lost"));
          this.answered.push(call);
          const arriving = this.tamper(call, answer);
          if (arriving !== undefined) clock.after(ONE_WAY_MS, () => end(arriving));
        });
      });
    });
  }
}

type Method = (request: unknown, context: CallContext) => Promise<Answer>;

function refuse(reason: "TRANSIENT" | "UNCERTAIN", message: string): Answer {
  return failed(localRefusal(reason, message));
}
