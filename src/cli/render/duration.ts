// Durations as people read and type them: 850ms, 3.2s, 2m 5s, 4h 10m. What is typed back
// (arguments.ts) is a part of these forms.

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Rounded to what matters at that size; never rounded up to the next unit's name. */
export function durationToText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < SECOND_MS) return `${whole}ms`;
  if (whole < MINUTE_MS) return `${trimZero(Math.floor(whole / 100) / 10)}s`;
  if (whole < HOUR_MS) return pair(whole, MINUTE_MS, "m", SECOND_MS, "s");
  if (whole < DAY_MS) return pair(whole, HOUR_MS, "h", MINUTE_MS, "m");
  return pair(whole, DAY_MS, "d", HOUR_MS, "h");
}

/** `14:03:07.215`, the wall clock of this machine, for lines of a running verb. */
export function wallTimeToText(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
  return `${time}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

function pair(ms: number, bigMs: number, big: string, smallMs: number, small: string): string {
  const bigs = Math.floor(ms / bigMs);
  const smalls = Math.floor((ms % bigMs) / smallMs);
  return smalls === 0 ? `${bigs}${big}` : `${bigs}${big} ${smalls}${small}`;
}

function trimZero(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}
