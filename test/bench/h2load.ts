/**
 * nghttp2's load generator, for calls whose request is the same every time. It sees HTTP only: a
 * call that gRPC refuses is a success to it. A refusal carries no message, so we count the bytes.
 */

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Cleanups } from "./cleanups.ts";
import { temporaryFolder, versionLine } from "./processes.ts";

const CALL_TIMEOUT_MS = 10_000;
const RUN_TIMEOUT_MS = 120_000;

/** Undefined: it is not installed. */
export function h2loadVersion(): string | undefined {
  return versionLine("h2load", ["--version"]);
}

export interface H2loadOptions {
  readonly address: string;
  readonly path: string;
  readonly request: Buffer;
  readonly connections: number;
  readonly inFlight: number;
  readonly calls: number;
}

export interface H2loadReading {
  readonly seconds: number;
  readonly perSecond: number;
  /** Of all answers together, without frame headers. */
  readonly dataBytes: number;
}

export class H2load {
  readonly #requestFile: string;

  constructor(cleanups: Cleanups) {
    this.#requestFile = path.join(temporaryFolder("h2load", cleanups), "request");
  }

  async run(options: H2loadOptions): Promise<H2loadReading> {
    writeFileSync(this.#requestFile, grpcMessage(options.request));
    const args = [
      ["-n", String(options.calls)],
      ["-c", String(options.connections)],
      ["-m", String(Math.ceil(options.inFlight / options.connections))],
      ["-t", "1"],
      ["-d", this.#requestFile],
      ["-H", "content-type: application/grpc"],
      ["-H", "te: trailers"],
      ["-H", `grpc-timeout: ${CALL_TIMEOUT_MS}m`],
      [`http://${options.address}${options.path}`],
    ].flat();
    return parseH2load(await outputOf("h2load", args), options.calls);
  }
}

/** Throws unless all calls were made and answered. */
export function parseH2load(output: string, calls: number): H2loadReading {
  const finished = /finished in ([\d.]+)(us|ms|s), ([\d.]+) req\/s/.exec(output);
  const requests = /requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded/.exec(output);
  const traffic = /traffic: .*\((\d+)\) data/.exec(output);
  if (finished === null || requests === null || traffic === null) {
    throw new Error(`the output of h2load cannot be read: ${output}`);
  }
  if (Number(requests[2]) !== calls) {
    throw new Error(`h2load: only ${requests[2]} of ${calls} calls were answered`);
  }
  const units: Readonly<Record<string, number>> = { us: 1e-6, ms: 1e-3, s: 1 };
  const seconds = Number(finished[1]) * (units[finished[2] ?? ""] ?? 1);
  return { seconds, perSecond: Number(finished[3]), dataBytes: Number(traffic[1]) };
}

/** As it stands on a gRPC stream: not compressed, its length, itself. */
export function grpcMessage(bytes: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

function outputOf(file: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { timeout: RUN_TIMEOUT_MS }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${file} failed: ${error.message} ${stderr}`));
    });
  });
}
