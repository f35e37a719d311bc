// Why a port could not be opened, as one line with a remedy. For every listener of a server, so
// that HTTP and gRPC say it in the same words.

/** The message is one line that names the address; `remedy` is an imperative sentence. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  readonly address: string;
  readonly remedy: string;

  constructor(args: { address: string; why: string; remedy: string; cause: unknown }) {
    super(`cannot listen on ${args.address}: ${args.why}`, { cause: args.cause });
    this.address = args.address;
    this.remedy = args.remedy;
  }
}

/** Total over what `listen` of Node or of a gRPC server rejects with. */
export function listenErrorOf(address: string, setting: string, cause: unknown): ListenError {
  const code = codeOf(cause);
  const row = code === undefined ? undefined : KNOWN[code];
  return new ListenError({
    address,
    why: row?.why ?? code ?? (cause instanceof Error ? cause.message : String(cause)),
    remedy: row?.remedy(setting) ?? `check ${setting}`,
    cause,
  });
}

const KNOWN: Readonly<Record<string, { why: string; remedy: (setting: string) => string }>> = {
  EADDRINUSE: {
    why: "another process uses the port",
    remedy: (setting) => `stop that process, or give another port in ${setting}`,
  },
  EACCES: {
    why: "ports below 1024 need privileges",
    remedy: (setting) => `give a port from 1024 in ${setting}`,
  },
  EADDRNOTAVAIL: {
    why: "this machine has no such address",
    remedy: (setting) => `give an address of this machine, or 0.0.0.0, in ${setting}`,
  },
  ENOTFOUND: {
    why: "the host name is unknown",
    remedy: (setting) => `correct the host in ${setting}`,
  },
};

function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
