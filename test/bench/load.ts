/**
 * The benchmark's own load generator: a closed loop of unary calls with a fixed number in flight,
 * in this process, the same for both contestants. Requests are encoded before the loop starts, so
 * that it does nothing but send bytes and count answers.
 */

import type { Pipe } from "./pipe.ts";
import { openPipe, type PipeKind } from "./pipes.ts";
import { cpuMsOf } from "./processes.ts";
import { percentile } from "./statistics.ts";

export interface LoadOptions {
  readonly pipe: PipeKind;
  readonly address: string;
  readonly path: string;
  readonly connections: number;
  /** Over all connections. */
  readonly inFlight: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** The next request; undefined: there are no more, which ends the measurement early. */
  readonly next: () => Buffer | undefined;
  readonly onAnswer: (answer: Buffer) => void;
  /** Whose processor time is taken over the measured stretch, by what they are called. */
  readonly watched: Readonly<Record<string, readonly number[]>>;
}

export interface LoadReading {
  readonly operations: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Cores in use, by the names of `watched`, and "generator". */
  readonly cores: Readonly<Record<string, number>>;
}

/** Rejects when any call failed: what is measured with failures in it is not worth knowing. */
export async function runLoad(options: LoadOptions): Promise<LoadReading> {
  const { pipe, address, path, connections } = options;
  const opening = Array.from({ length: connections }, () => openPipe(pipe, address, path));
  const pipes = await Promise.all(opening);
  try {
    return await new Loop(pipes, options).run();
  } finally {
    for (const one of pipes) one.close();
  }
}

class Loop {
  readonly #pipes: readonly Pipe[];
  readonly #options: LoadOptions;
  readonly #latenciesMs: number[] = [];
  #fromMs = 0;
  #untilMs = Number.POSITIVE_INFINITY;
  #inFlight = 0;
  #cpuFrom: CpuReading | undefined;
  #cpuUntil: CpuReading | undefined;
  #failed: Error | undefined;
  #finish: () => void = () => {};

  constructor(pipes: readonly Pipe[], options: LoadOptions) {
    this.#pipes = pipes;
    this.#options = options;
  }

  async run(): Promise<LoadReading> {
    const finished = new Promise<void>((resolve) => (this.#finish = resolve));
    const { inFlight, warmUpMs, watched } = this.#options;
    this.#fromMs = performance.now() + warmUpMs;
    for (let at = 0; at < inFlight; at++) this.#send(at % this.#pipes.length);
    await finished;
    if (this.#failed !== undefined) throw this.#failed;
    const seconds = (this.#untilMs - this.#fromMs) / 1_000;
    const operations = this.#latenciesMs.length;
    if (operations === 0) throw new Error("no call was answered in the measured stretch");
    return {
      operations,
      perSecond: operations / seconds,
      p50Ms: percentile(this.#latenciesMs, 0.5),
      p99Ms: percentile(this.#latenciesMs, 0.99),
      cores: coresBetween(this.#cpuFrom, this.#cpuUntil ?? readCpu(watched)),
    };
  }

  #send(at: number): void {
    const pipe = this.#pipes[at];
    const request = this.#failed === undefined ? this.#nextRequest() : undefined;
    if (pipe === undefined || request === undefined) {
      if (this.#inFlight === 0) this.#finish();
      return;
    }
    this.#inFlight++;
    const sentAtMs = performance.now();
    pipe.call(request, (error, answer) => {
      this.#inFlight--;
      if (error === undefined) this.#note(sentAtMs, answer);
      else this.#failed ??= new Error(`${this.#options.path}: ${error.message}`);
      this.#send(at);
    });
  }

  #nextRequest(): Buffer | undefined {
    const nowMs = performance.now();
    if (this.#isOver(nowMs)) return undefined;
    const request = this.#options.next();
    // What is still under way comes after the end and is not counted.
    if (request === undefined) this.#end(nowMs);
    return request;
  }

  /** Not before something was counted: on a busy machine the first answer may come late. */
  #isOver(nowMs: number): boolean {
    return this.#latenciesMs.length > 0 && nowMs >= this.#untilMs;
  }

  #end(nowMs: number): void {
    if (this.#cpuFrom === undefined) this.#failed ??= new Error("requests ran out in the warm-up");
    this.#untilMs = nowMs;
  }

  /** The measured stretch begins with the first answer after the warm-up, which does not count. */
  #note(sentAtMs: number, answer: Buffer): void {
    const nowMs = performance.now();
    this.#options.onAnswer(answer);
    if (nowMs < this.#fromMs) return;
    if (this.#cpuFrom === undefined) {
      this.#fromMs = nowMs;
      this.#untilMs = nowMs + this.#options.measureMs;
      this.#cpuFrom = readCpu(this.#options.watched);
      return;
    }
    if (this.#isOver(nowMs)) {
      this.#cpuUntil ??= readCpu(this.#options.watched);
      return;
    }
    this.#untilMs = Math.max(this.#untilMs, nowMs);
    this.#latenciesMs.push(nowMs - sentAtMs);
  }
}

export interface CpuReading {
  readonly atMs: number;
  readonly cpuMs: Readonly<Record<string, number | undefined>>;
}

export function readCpu(watched: Readonly<Record<string, readonly number[]>>): CpuReading {
  const own = process.cpuUsage();
  const cpuMs: Record<string, number | undefined> = {};
  for (const [name, pids] of Object.entries(watched)) cpuMs[name] = cpuMsOf(pids);
  cpuMs["generator"] = (own.user + own.system) / 1_000;
  return { atMs: performance.now(), cpuMs };
}

/** Without the names that could not be read at both ends. */
export function coresBetween(
  from: CpuReading | undefined,
  until: CpuReading,
): Readonly<Record<string, number>> {
  const cores: Record<string, number> = {};
  if (from === undefined) return cores;
  for (const [name, cpuMs] of Object.entries(until.cpuMs)) {
    const before = from.cpuMs[name];
    if (cpuMs === undefined || before === undefined) continue;
    cores[name] = (cpuMs - before) / (until.atMs - from.atMs);
  }
  return cores;
}
