// The ports of a development cluster: ten apart per server, then gRPC, peer, HTTP. All of them are
// tried before any server starts, so that a busy one is named together with its purpose.
import { createServer } from "node:net";
import { CliError, usageError } from "../failure.ts";

export interface DevServerAddresses {
  readonly id: number;
  readonly grpc: string;
  readonly peer: string;
  readonly http: string;
}

const HOST = "127.0.0.1";
const PORTS_PER_SERVER = 10;
const PORT_MAX = 65_535;

export function serverAddresses(cluster: {
  readonly basePort: number;
  readonly servers: number;
}): readonly DevServerAddresses[] {
  return Array.from({ length: cluster.servers }, (_, index) => {
    const port = cluster.basePort + PORTS_PER_SERVER * index;
    return {
      id: index + 1,
      grpc: `${HOST}:${port}`,
      peer: `${HOST}:${port + 1}`,
      http: `${HOST}:${port + 2}`,
    };
  });
}

/** Refuses the first port that another process uses. */
export async function checkPortsFree(servers: readonly DevServerAddresses[]): Promise<void> {
  for (const { id, grpc, peer, http } of servers) {
    for (const [purpose, address] of Object.entries({ grpc, peer, http })) {
      const port = portOf(address);
      if (port > PORT_MAX) throw usageError(`port ${port} of server ${id} is above ${PORT_MAX}`);
      const code = await tryPort(port);
      if (code === undefined) continue;
      throw new CliError({
        message:
          code === "EADDRINUSE"
            ? `port ${port} (${purpose} of server ${id}) is used by another process`
            : `port ${port} (${purpose} of server ${id}) cannot be opened: ${code}`,
        remedy: "stop that process, or give other ports with --base-port",
      });
    }
  }
}

/** The error's code when nobody can listen there now. */
function tryPort(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host: HOST, port, exclusive: true }, () => {
      server.close(() => resolve(undefined));
    });
  });
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}
