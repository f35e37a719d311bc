// Parsers of option values that several verbs share. Each throws commander's own error for a bad
// value, so that the message names the option.
import { InvalidArgumentError } from "commander";

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const PORT_MAX = 65_535;

/** "500ms", "5s", "1.5m", "2h" in milliseconds, whole and above zero. */
export function parseDurationMs(text: string): number {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  const ms = Math.round(Number(amount) * (unit === undefined ? Number.NaN : unitMs(unit)));
  if (!Number.isSafeInteger(ms) || ms <= 0) {
    throw new InvalidArgumentError("Give a duration above zero, for example 500ms, 5s or 2m.");
  }
  return ms;
}

/** "host:port,host:port" as a list. */
export function parseEndpoints(text: string): readonly string[] {
  const endpoints = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (endpoints.length === 0)
    throw new InvalidArgumentError("Give host:port, or several with commas.");
  const bad = endpoints.find((endpoint) => !isHostPort(endpoint));
  if (bad !== undefined) throw new InvalidArgumentError(`"${bad}" is not host:port.`);
  return endpoints;
}

/** A server id: a whole number from 1. */
export function parseServerId(text: string): number {
  return parseWholeNumber(text, { min: 1, max: 2 ** 31 - 1, what: "a server id" });
}

/** A port that can be listened on. */
export function parsePort(text: string): number {
  return parseWholeNumber(text, { min: 1, max: PORT_MAX, what: "a port" });
}

export function parseWholeNumber(
  text: string,
  bounds: { readonly min: number; readonly max: number; readonly what: string },
): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  throw new InvalidArgumentError(`Give ${bounds.what} from ${bounds.min} to ${bounds.max}.`);
}

function isHostPort(text: string): boolean {
  const [, port] = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/]+):(\d{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) >= 1 && Number(port) <= PORT_MAX;
}

function unitMs(unit: string): number {
  return unit in UNIT_MS ? UNIT_MS[unit as keyof typeof UNIT_MS] : Number.NaN;
}
