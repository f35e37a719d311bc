// A reference owner: takes a seat, prints what happens to it, and gives its ranges up at Ctrl-C.
// It keeps no data and listens nowhere; what it shows is the life of a lease.
import { CoordinationError } from "../../client/errors.ts";
import type { NodeData } from "../../fence/level/node-data.ts";
import type { Seat, SeatOptions } from "../../fence/seat.ts";
import type { SeatEvent } from "../../fence/seat-events.ts";
import { EXIT, reasonRow } from "../../wire/errors.ts";
import { type CliContext, toJsonText } from "../context.ts";
import { KeyspaceKinds } from "../directory/keyspace-kinds.ts";
import { CliError } from "../failure.ts";
import { durationToText, wallTimeToText } from "../render/duration.ts";
import { countText } from "../render/table.ts";
import type { Connection, VerbWorld } from "../verb-world.ts";
import { isRangeEvent, seatEventJson, seatEventText } from "./seat-lines.ts";

/** What a node needs beside the connection; loaded when a node is run. */
export interface NodeWorld extends Pick<VerbWorld, "catchInterrupt" | "wallNow"> {
  readonly clock: SeatOptions["clock"];
  readonly timers: SeatOptions["timers"];
  readonly freshNonce: SeatOptions["freshNonce"];
  /** Throws a NodeDataError. */
  openNodeData(dataDir: string): Promise<NodeData>;
  takeSeat(options: SeatOptions): Promise<Seat>;
}

export interface RunNodeOptions {
  readonly nodeId: string;
  readonly addresses: readonly string[];
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: number;
  readonly dataDir: string;
  readonly keepOnExit: boolean;
  readonly quiet: boolean;
}

export async function runNode(
  world: NodeWorld,
  context: CliContext,
  connection: Connection,
  options: RunNodeOptions,
): Promise<void> {
  const interrupt = world.catchInterrupt();
  const data = await openData(world, options.dataDir);
  try {
    const seat = await register(world, context, { connection, data, options, interrupt });
    if (seat === undefined) return;
    const closing = new Promise<void>((resolve, reject) => {
      const close = (): void => {
        closeSeat(seat, context, options).then(resolve, reject);
      };
      if (interrupt.signal.aborted) close();
      else interrupt.signal.addEventListener("abort", close, { once: true });
    });
    const printed = printEvents(seat, { world, context, connection, options });
    const stopped = await Promise.race([printed, closing.then(() => printed)]);
    if (stopped === undefined) {
      await closing;
    } else {
      await seat.close({ release: false });
      throw stoppedError(stopped);
    }
  } finally {
    interrupt.dispose();
    await data.close();
  }
}

async function openData(world: NodeWorld, dataDir: string): Promise<NodeData> {
  try {
    return await world.openNodeData(dataDir);
  } catch (error) {
    // A NodeDataError, known by its code so that verbs without a node load no store.
    if (!(error instanceof Error) || error.name !== "NodeDataError") throw error;
    const isLocked = "code" in error && error.code === "locked";
    throw new CliError({
      message: error.message,
      exit: isLocked ? EXIT.conflict : EXIT.failed,
      cause: error,
    });
  }
}

/** undefined: interrupted before it was registered. */
async function register(
  world: NodeWorld,
  context: CliContext,
  parts: {
    readonly connection: Connection;
    readonly data: NodeData;
    readonly options: RunNodeOptions;
    readonly interrupt: { readonly signal: AbortSignal };
  },
): Promise<Seat | undefined> {
  const { connection, data, options, interrupt } = parts;
  const { nodeId, addresses, zone, labels, capacity } = options;
  // Once registered, an interruption must release; so the seat itself is not aborted by it.
  const registering = new AbortController();
  const abort = (): void => registering.abort();
  interrupt.signal.addEventListener("abort", abort, { once: true });
  try {
    return await world.takeSeat({
      client: connection.client,
      nodeId,
      dataUuid: data.dataUuid,
      addresses,
      zone,
      labels,
      capacity,
      clock: world.clock,
      timers: world.timers,
      start: data.start,
      voidProof: () => data.voidProof(),
      epochs: data,
      freshNonce: world.freshNonce,
      registerDeadlineMs: context.options.timeoutMs,
      signal: registering.signal,
    });
  } catch (error) {
    if (error instanceof CoordinationError && interrupt.signal.aborted) return undefined;
    throw error;
  } finally {
    interrupt.signal.removeEventListener("abort", abort);
  }
}

/** Prints until the seat has ended; answers the last event if the seat ended by itself. */
async function printEvents(
  seat: Seat,
  parts: {
    readonly world: NodeWorld;
    readonly context: CliContext;
    readonly connection: Connection;
    readonly options: RunNodeOptions;
  },
): Promise<Extract<SeatEvent, { kind: "stopped" }> | undefined> {
  const { world, context, connection, options } = parts;
  const kinds = new KeyspaceKinds(connection.client, { deadlineMs: context.options.timeoutMs });
  let lastRefusal: string | undefined;
  for await (const event of seat.events()) {
    const at = world.wallNow();
    if (event.kind === "stopped" && event.reason !== undefined) return event;
    if (event.kind === "renewed" && options.quiet) continue;
    // The same refusal again and again is one line.
    const refusal = event.kind === "refused" ? `${event.what} ${event.reason}` : undefined;
    if (refusal !== undefined && refusal === lastRefusal) continue;
    lastRefusal = refusal;
    if (isRangeEvent(event)) await kinds.learn([event.keyspace]);
    context.stdout.write(
      context.options.output === "json"
        ? `${toJsonText(seatEventJson(event, at, kinds.kindOf))}\n`
        : `${wallTimeToText(at)}  ${seatEventText(event, kinds.kindOf)}\n`,
    );
  }
  return undefined;
}

async function closeSeat(seat: Seat, context: CliContext, options: RunNodeOptions): Promise<void> {
  const holds = seat.holds().filter(({ remainingMs }) => (remainingMs ?? 0) > 0);
  const lastMs = Math.max(0, ...holds.map(({ remainingMs }) => remainingMs ?? 0));
  if (options.keepOnExit && holds.length > 0) {
    context.note(
      `keeping ${countText(holds.length, "range")}: they stay with ${seat.nodeId} for about ` +
        `${durationToText(lastMs)}, until their leases end`,
    );
  } else if (holds.length > 0) {
    context.note(`releasing ${countText(holds.length, "range")}`);
  }
  await seat.close({ release: !options.keepOnExit });
}

function stoppedError(event: Extract<SeatEvent, { kind: "stopped" }>): CliError {
  const reason = event.reason ?? "LOST_AUTHORITY";
  return new CliError({
    message: `the seat has ended: ${event.message}`,
    exit: reasonRow(reason).exit,
    reason,
  });
}
