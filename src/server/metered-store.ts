/**
 * A log store that counts how long its synced writes take, for the metrics. Passes everything else
 * through unchanged.
 */

import { DurationHistogram } from "../admin/duration-histogram.ts";
import type { HistogramSnapshot } from "../admin/port.ts";
import type { Clock, LogStore } from "../replica/ports.ts";

export interface MeteredStore {
  readonly store: LogStore;
  /** From submission to the disk, waiting for the write before included. */
  readonly syncHistogram: () => HistogramSnapshot;
}

export function meteredStore(inner: LogStore, clock: Clock): MeteredStore {
  const histogram = new DurationHistogram();
  const store: LogStore = {
    submit: (step) => {
      const startedAtMs = clock.nowMs();
      inner.submit({
        ...step,
        onDurable: () => {
          histogram.observeMs(clock.nowMs() - startedAtMs);
          step.onDurable();
        },
      });
    },
    close: () => inner.close(),
  };
  return { store, syncHistogram: () => histogram.snapshot() };
}
