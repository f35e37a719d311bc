// One log record as one short line for people:
//   12:03:04.123 s1 raft: became leader group=0 term=3
// A pure function of the record, whatever the record holds; what would break the line is quoted.

const VALUE_LENGTH_MAX = 200;
const BARE_VALUE = /^[\w.:/@+,-]+$/;
const LEVELS_SHOWN: readonly unknown[] = ["warn", "error", "fatal"];
const OWN_KEYS: readonly string[] = ["level", "time", "server", "component", "event"];

export function renderRecord(
  record: Readonly<Record<string, unknown>>,
  utcOffsetMinutes: number,
): string {
  const { level, time, server, component, event } = record as Readonly<
    Partial<Record<string, unknown>>
  >;
  const head = [
    timeOfDay(time, utcOffsetMinutes),
    words(server),
    LEVELS_SHOWN.includes(level) ? String(level).toUpperCase() : "",
    component === undefined ? "" : `${words(component)}:`,
    eventWords(words(event)),
  ];
  const fields = Object.entries(record)
    .filter(([key, value]) => !OWN_KEYS.includes(key) && value !== undefined)
    .map(([key, value]) => `${key}=${valueText(value)}`);
  return [...head, ...fields].filter((part) => part !== "").join(" ");
}

function timeOfDay(time: unknown, utcOffsetMinutes: number): string {
  const atMs =
    typeof time === "string" || typeof time === "number" ? Date.parse(String(time)) : NaN;
  if (Number.isNaN(atMs)) return "--:--:--.---";
  return new Date(atMs + utcOffsetMinutes * 60_000).toISOString().slice(11, 23);
}

/** "becameLeader" reads as "became leader". */
function eventWords(event: string): string {
  return event.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : messageOf(value);
  const clipped = text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}...` : text;
  return BARE_VALUE.test(clipped) ? clipped : JSON.stringify(clipped);
}

/** Of an error the message is enough here; the JSON form has the stack. */
function messageOf(value: unknown): string {
  if (typeof value === "object" && value !== null && "message" in value && "stack" in value) {
    return String(value.message);
  }
  return JSON.stringify(value) ?? String(value);
}

function words(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : messageOf(value);
  return text.replaceAll(/\p{Cc}+/gu, " ");
}
