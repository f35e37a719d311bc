/**
 * The called side of the Peer service: accepts streams from peers with smaller ids, and answers
 * forwarded commands. Everything else is refused with a status, cut, and logged at a limited rate.
 */

import {
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  status,
} from "@grpc/grpc-js";
import type { ServerId } from "../base/brands.ts";
import type { Result } from "../base/result.ts";
import type { ForwardAnswer, ForwardCall } from "../replica/ports.ts";
import { invalidArgumentText, type InvalidArgument } from "../wire/fields.ts";
import type { ForwardReply } from "../wire/generated/cadastre/peer/v1/ForwardReply.ts";
import type { ForwardRequest__Output } from "../wire/generated/cadastre/peer/v1/ForwardRequest.ts";
import type { PeerHandlers } from "../wire/generated/cadastre/peer/v1/Peer.ts";
import type { PeerFrame, PeerFrame__Output } from "../wire/generated/cadastre/peer/v1/PeerFrame.ts";
import {
  forwardAnswerToProto,
  type Hello,
  helloToProto,
  type PeerIds,
  protoToForward,
  protoToHello,
} from "../wire/peer-forward.ts";
import { protoToFetchSnapshot } from "../wire/peer-snapshot.ts";
import { dials, distrusted, localIds, type Refusal, refusalOf } from "./handshake.ts";
import { type Listener, listen } from "./listener.ts";
import type { NetworkContext, PeerLink } from "./peer-link.ts";
import { PEER_SERVICE } from "./peer-channel.ts";
import type { FetchCall, SnapshotSender } from "./snapshot-sender.ts";
import { refusalByStores } from "./standing.ts";
import { SERVER_OPTIONS } from "./tuning.ts";

export type OnForward = (from: ServerId, call: ForwardCall) => Promise<ForwardAnswer>;

export interface PeerServerOptions {
  readonly listen: string;
  readonly context: NetworkContext;
  /** The link to a peer; undefined: no such peer. */
  readonly linkTo: (server: ServerId) => PeerLink | undefined;
  readonly onForward: OnForward;
  readonly sender: SnapshotSender;
}

type Incoming = ServerDuplexStream<PeerFrame__Output, PeerFrame>;

export class PeerServer {
  readonly #options: PeerServerOptions;
  readonly #server = new Server(SERVER_OPTIONS);
  #listener: Listener | undefined;

  private constructor(options: PeerServerOptions) {
    this.#options = options;
    const handlers: PeerHandlers = {
      Exchange: (call) => this.#onExchange(call),
      Forward: (call, reply) => this.#onForward(call, reply),
      FetchSnapshot: (call) => this.#onFetchSnapshot(call),
    };
    this.#server.addService(PEER_SERVICE, handlers);
  }

  /** Rejects with BindError. */
  static async start(options: PeerServerOptions): Promise<PeerServer> {
    const server = new PeerServer(options);
    const injector = server.#server.createConnectionInjector(ServerCredentials.createInsecure());
    server.#listener = await listen(options.listen, (socket) => injector.injectConnection(socket));
    return server;
  }

  get address(): string {
    return this.#listener?.address ?? "";
  }

  /** Answers what is under way for up to drainMs, then cuts every connection. */
  async close(): Promise<void> {
    const stopped = this.#listener?.stop();
    this.#options.sender.close();
    await new Promise<void>((resolve) => {
      const cancel = this.#options.context.timers.after(
        this.#options.context.tuning.drainMs,
        resolve,
      );
      this.#server.tryShutdown(() => {
        cancel();
        resolve();
      });
    });
    this.#server.forceShutdown();
    this.#listener?.cutAll();
    await stopped;
  }

  #onExchange(call: Incoming): void {
    const { timers, tuning } = this.#options.context;
    const remote = call.getPeer();
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
      cancelTimer();
    };
    const refuse = (refusal: Refusal): void => {
      settle();
      this.#refuse(call, remote, refusal);
    };
    const cancelTimer = timers.after(tuning.connectTimeoutMs, () => {
      timers.afterReading(() => {
        if (!isSettled) refuse(NO_HELLO);
      });
    });
    // The listeners stay for good: a stream without one for "error" would throw.
    call.on("error", settle);
    call.on("cancelled", settle);
    call.once("data", (frame: PeerFrame__Output) => {
      if (isSettled) return;
      const hello = frame.hello ? protoToHello(frame.hello) : undefined;
      if (hello === undefined) refuse(NO_HELLO);
      else if (!hello.ok) refuse(malformed(hello.error));
      else {
        this.#whenRemembered(call, hello.value, () => {
          if (isSettled) return;
          const refusal = this.#helloRefusal(hello.value);
          if (refusal !== undefined) refuse(refusal);
          else {
            settle();
            this.#accept(call, remote, hello.value);
          }
        });
      }
    });
    call.once("end", () => {
      if (!isSettled) refuse(NO_HELLO);
    });
  }

  /** Runs at once, or when the store of an acceptable peer is remembered for good. */
  #whenRemembered(call: Incoming, hello: Hello, run: () => void): void {
    const { standing } = this.#options.context;
    if (standing.isRemembered(hello.from) || this.#helloRefusal(hello) !== undefined) {
      run();
      return;
    }
    call.pause();
    void standing.remember(hello.from, hello.storeUuid).then(run);
  }

  #helloRefusal(hello: Hello): Refusal | undefined {
    const { context, linkTo } = this.#options;
    const distrust = context.standing.distrust();
    if (distrust !== undefined) return distrusted(distrust);
    const refusal = refusalOf(hello, context, (server) => linkTo(server) !== undefined);
    if (refusal !== undefined) return refusal;
    if (!dials(hello.from, context.self)) {
      const details = `wrong direction: server ${context.self} dials server ${hello.from}`;
      return { code: status.FAILED_PRECONDITION, reason: "wrongDirection", details };
    }
    const byStores = refusalByStores(hello, context);
    if (byStores !== undefined) return byStores;
    if (linkTo(hello.from)?.isLate(hello) === true) {
      const details = "late: a newer stream of the same process was accepted before";
      return { code: status.FAILED_PRECONDITION, reason: "lateStream", details };
    }
    return undefined;
  }

  #accept(call: Incoming, remote: string, hello: Hello): void {
    const { context, linkTo } = this.#options;
    const link = linkTo(hello.from);
    const { bootNonce, standing } = context;
    const { storeUuid } = standing;
    const { acknowledged = [] } = link ?? {};
    const ids = localIds(context, hello.from);
    const answer = { ...ids, bootNonce, attempt: hello.attempt, storeUuid, acknowledged };
    call.write({ hello: helloToProto(answer) });
    const cut = (): void => this.#listener?.cut(remote);
    link?.attach(call, { hello, cut, isCalled: false, onEnd: () => {} });
    call.resume();
  }

  /** Tells the caller why, and cuts the connection if the caller does not end it. */
  #refuse(call: Incoming, remote: string, refusal: Refusal): void {
    const { logLimit, timers, tuning } = this.#options.context;
    const { code, reason, details } = refusal;
    logLimit.warn("peerRefused", `${reason} ${hostOf(remote)}`, { remote, reason, details });
    call.write({ refusal: { reason, details } });
    call.emit("error", { code, details });
    const cancel = timers.after(tuning.connectTimeoutMs, () => this.#listener?.cut(remote));
    call.on("close", cancel);
  }

  #onForward(
    call: ServerUnaryCall<ForwardRequest__Output, ForwardReply>,
    reply: sendUnaryData<ForwardReply>,
  ): void {
    const { onForward } = this.#options;
    const request = protoToForward(call.request);
    const refusal = this.#callRefusal(request, "forwardRefused", call.getPeer());
    if (!request.ok || refusal !== undefined) {
      reply(refusal ?? NO_HELLO);
      return;
    }
    // A rejection is a bug of the handler and reaches the process as one: it is not caught here.
    void onForward(request.value.ids.from, request.value.call).then((answer) => {
      reply(null, forwardAnswerToProto(answer));
    });
  }

  #onFetchSnapshot(call: FetchCall): void {
    const request = protoToFetchSnapshot(call.request);
    const refusal = this.#callRefusal(request, "snapshotRefused", call.getPeer());
    if (!request.ok || refusal !== undefined) call.emit("error", refusal ?? NO_HELLO);
    else void this.#options.sender.serve(call, request.value);
  }

  /** Why a call beside the stream is not looked at, once it was logged. */
  #callRefusal(
    request: ReadRequest,
    event: string,
    remote: string,
  ): Pick<Refusal, "code" | "details"> | undefined {
    const { context, linkTo } = this.#options;
    const refusal = request.ok
      ? refusalOf(request.value.ids, context, (server) => linkTo(server) !== undefined)
      : malformed(request.error);
    if (refusal === undefined) return undefined;
    const { code, reason, details } = refusal;
    context.logLimit.warn(event, `${reason} ${hostOf(remote)}`, { remote, reason, details });
    return { code, details };
  }
}

/** What a call has made of its request, and says of itself. */
type ReadRequest = Result<{ readonly ids: PeerIds }, InvalidArgument>;

const NO_HELLO: Refusal = {
  code: status.INVALID_ARGUMENT,
  reason: "noHello",
  details: "the first frame of a stream is a Hello",
};

function malformed(error: InvalidArgument): Refusal {
  const details = invalidArgumentText(error);
  return { code: status.INVALID_ARGUMENT, reason: "malformed", details };
}

function hostOf(remote: string): string {
  return remote.slice(0, remote.lastIndexOf(":"));
}
