// The signals that ask a process to stop. A terminal, npm and a launcher may each pass on the
// same Ctrl-C, so what follows within a second is the same request; later it is impatience.
import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type StopSignal = (typeof SIGNALS)[number];

const REPEATED_SIGNAL_MS = 1_000;

export class StopSignals {
  /** Resolves with the first signal. */
  readonly first: Promise<StopSignal>;
  #firstAtMs: number | undefined;
  #resolve: ((signal: StopSignal) => void) | undefined;
  #repeated: (signal: StopSignal) => void = () => undefined;
  readonly #handlers: readonly (readonly [StopSignal, () => void])[];

  constructor() {
    this.first = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#handlers = SIGNALS.map((signal) => [signal, () => this.#onSignal(signal)]);
    for (const [signal, handler] of this.#handlers) process.on(signal, handler);
  }

  /** Called for each further request to stop. */
  onRepeated(repeated: (signal: StopSignal) => void): void {
    this.#repeated = repeated;
  }

  dispose(): void {
    for (const [signal, handler] of this.#handlers) process.off(signal, handler);
  }

  #onSignal(signal: StopSignal): void {
    const nowMs = performance.now();
    if (this.#firstAtMs === undefined) {
      this.#firstAtMs = nowMs;
      this.#resolve?.(signal);
    } else if (nowMs - this.#firstAtMs > REPEATED_SIGNAL_MS) {
      this.#repeated(signal);
    }
  }
}

/** As a shell counts it. */
export function signalExitCode(signal: StopSignal): number {
  return 128 + constants.signals[signal];
}
