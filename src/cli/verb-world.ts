// What the verbs that talk to the directory take from the world beside the context: the
// connection, Ctrl-C, input, and the wall clock. Tests hand in their own; the process's is in
// connect.ts.
import type { ChannelFactory } from "../client/channel.ts";
import type { CallOptions } from "../client/call.ts";
import type { Client } from "../client/client.ts";
import type { CliContext } from "./context.ts";

/** The directory, as one run of the CLI reaches it. */
export interface Connection {
  readonly client: Client;
  /** Where to begin; the client learns of other servers by itself. */
  readonly endpoints: readonly string[];
  /** For what must ask one certain server. */
  readonly channels: ChannelFactory;
}

export interface Interrupt {
  /** Aborted at the first request to stop. */
  readonly signal: AbortSignal;
  dispose(): void;
}

export interface VerbWorld {
  /** Throws a CliError when no server is known. Nothing is sent yet. */
  connect(context: CliContext): Promise<Connection>;
  /** From now on, until disposed, requests to stop go here and don't end the process. */
  catchInterrupt(): Interrupt;
  /** The file's bytes, or those of the standard input for "-". Throws a CliError. */
  readInput(path: string, context: CliContext): Promise<Uint8Array>;
  wallNow(): Date;
}

/** Runs with a connection that is closed afterwards. */
export async function withConnection<T>(
  world: Pick<VerbWorld, "connect">,
  context: CliContext,
  run: (connection: Connection, options: CallOptions) => Promise<T>,
): Promise<T> {
  const connection = await world.connect(context);
  try {
    return await run(connection, { deadlineMs: context.options.timeoutMs });
  } finally {
    connection.client.close();
  }
}
