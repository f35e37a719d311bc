// One small HTTP request to a server of this machine or cluster, with a deadline. No pool, no
// redirects: for health, status and the launcher's control endpoint.
import { request } from "node:http";

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

const BODY_LENGTH_MAX = 4 * 1024 * 1024;

/** Rejects when nothing answered in time. */
export function httpCall(args: {
  /** "host:port" */
  readonly address: string;
  readonly path: string;
  readonly timeoutMs: number;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
}): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const call = request(
      `http://${args.address}${args.path}`,
      {
        method: args.method ?? "GET",
        headers: { ...args.headers },
        agent: false,
        signal: AbortSignal.timeout(args.timeoutMs),
      },
      (answer) => {
        let body = "";
        answer.setEncoding("utf8");
        answer.on("data", (part: string) => {
          body += part;
          if (body.length > BODY_LENGTH_MAX) answer.destroy(new Error("the answer is too long"));
        });
        answer.on("error", reject);
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
      },
    );
    call.on("error", reject);
    call.end();
  });
}
