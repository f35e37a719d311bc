// What a run of owners did: a hash over everything, the last lines in words, and what was covered.

const LINES_KEPT = 150;

/** How often each thing happened. A long run in which one of them never did proves little. */
export const COVERED = [
  "elections",
  "serverCrashes",
  "serverCuts",
  "serverStalls",
  "slowDisks",
  "linksCut",
  "linksSilenced",
  "callsLost",
  "answersLost",
  "callsRepeated",
  "watchesBroken",
  "pauses",
  "processCrashes",
  "replacements",
  "closes",
  "releases",
  "sessions",
  "renewals",
  "renewalsFailed",
  "viewsTooOld",
  "grants",
  "successorsRecorded",
  "successorsWithdrawn",
  "successorGrants",
  "expiries",
  "lapses",
  "heldAgain",
  "sessionsLost",
  "stoppedAsStale",
  "unknownOutcomes",
  "lookups",
  "admissions",
  "stillHeld",
  "uncertain",
] as const;

export type Covered = (typeof COVERED)[number];
export type OwnersCoverage = Record<Covered, number>;

export function newOwnersCoverage(): OwnersCoverage {
  return Object.fromEntries(COVERED.map((what) => [what, 0])) as OwnersCoverage;
}

export function addOwnersCoverage(total: OwnersCoverage, more: OwnersCoverage): void {
  for (const what of COVERED) total[what] += more[what];
}

export class OwnersTrace {
  readonly coverage: OwnersCoverage = newOwnersCoverage();
  events = 0;
  #hash = 0x811c9dc5;
  readonly #lines: string[] = [];
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get hash(): number {
    return this.#hash >>> 0;
  }

  count(what: Covered): void {
    this.coverage[what]++;
  }

  say(text: string): void {
    this.events++;
    const line = `${this.#nowMs().toFixed(3)} ${text}`;
    for (let at = 0; at < line.length; at++) {
      this.#hash = Math.imul(this.#hash ^ line.charCodeAt(at), 0x01000193);
    }
    this.#lines.push(line);
    if (this.#lines.length > 2 * LINES_KEPT) this.#lines.splice(0, LINES_KEPT);
  }

  lastLines(): string {
    return this.#lines.slice(-LINES_KEPT).join("\n");
  }
}
