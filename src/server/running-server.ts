// What the process around a server sees of it. `startServer` of process.ts makes one; the CLI and
// the tests hold it. Nothing here knows how a server is put together.
import type { AdminStatus } from "../admin/port.ts";
import type { Logger } from "../replica/ports.ts";
import type { ServerConfig } from "./config/schema.ts";

export interface RunningServer {
  /** Where it listens in fact: a port 0 of the configuration is replaced by the real one. */
  readonly addresses: { readonly grpc: string; readonly peer: string; readonly http: string };
  /** Of this server alone; never waits. */
  status(): AdminStatus;
  /** Drains and closes everything; a second call answers the same promise. Never rejects. */
  stop(): Promise<void>;
  /** Resolves, if ever, with what makes it impossible to go on. The process then ends. */
  readonly failed: Promise<Error>;
}

/**
 * Resolves when the server listens on all its addresses, which is before it is ready. Rejects
 * with an error that has a one-line message and perhaps a `remedy`; nothing is left open then.
 */
export type StartServer = (config: ServerConfig, logger: Logger) => Promise<RunningServer>;
