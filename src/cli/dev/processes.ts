// Other processes by id: whether one is alive, is stopped, and is still the one that was meant
// (the system gives ids again, so a start mark goes with each). From /proc, else from `ps`.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface ProcessRef {
  readonly pid: number;
  /** When it started, in the system's own words; empty where that cannot be learnt. */
  readonly startMark: string;
}

/** Of a live process, by its id. */
export function processRef(pid: number): ProcessRef {
  return { pid, startMark: lookUp(pid)?.startMark ?? "" };
}

/** Neither gone nor replaced by another process, nor a zombie. */
export function isRunning(ref: ProcessRef): boolean {
  const found = lookUp(ref.pid);
  if (found === undefined || found.state.startsWith("Z")) return false;
  return ref.startMark === "" || found.startMark === "" || found.startMark === ref.startMark;
}

/** Stopped by SIGSTOP (or a debugger). */
export function isPaused(pid: number): boolean {
  return /^[Tt]/.test(lookUp(pid)?.state ?? "");
}

interface Found {
  readonly state: string;
  readonly startMark: string;
}

function lookUp(pid: number): Found | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0 || !answersSignals(pid)) return undefined;
  return fromProc(pid) ?? fromPs(pid) ?? { state: "?", startMark: "" };
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Fields 3 and 22 of /proc/PID/stat; the name in field 2 may hold anything, in parentheses. */
function fromProc(pid: number): Found | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "?", startMark: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): Found | undefined {
  try {
    const text = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    const at = text.indexOf(" ");
    return at === -1 ? undefined : { state: text.slice(0, at), startMark: text.slice(at).trim() };
  } catch {
    return undefined;
  }
}
