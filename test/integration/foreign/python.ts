// A Python that has grpcio and protobuf, and protoc: the second implementation that our standard
// services are tried with. Without them the tests fail and say what to install.
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "../support/real-cluster.ts";

const SCRIPT = path.join(ROOT, "test/integration/foreign/standard_services.py");
/** Debian's packages serve its own Python, which another one may stand before. */
const CANDIDATES = ["python3", "/usr/bin/python3"];
const MISSING =
  "these tests talk to a server from Python: install Debian's python3-grpcio, python3-protobuf" +
  " and protobuf-compiler (apt-get install, as .ci/run does), then run them again";

/** The interpreter; rejects when there is none that can run the script. */
export async function findPython(): Promise<string> {
  if ((await statusOf("protoc", ["--version"])) !== 0) throw new Error(`no protoc; ${MISSING}`);
  for (const candidate of CANDIDATES) {
    if ((await statusOf(candidate, ["-c", "import grpc, google.protobuf"])) === 0) return candidate;
  }
  throw new Error(`no python3 with the modules grpc and google.protobuf; ${MISSING}`);
}

function statusOf(file: string, args: readonly string[]): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: "ignore" });
    child.once("error", () => resolve(null));
    child.once("exit", resolve);
  });
}

export interface Script {
  readonly child: ChildProcess;
  /** What it has printed so far, an object per line. */
  readonly lines: unknown[];
  /** Resolves when it has ended well; rejects with its errors. */
  readonly done: Promise<unknown[]>;
}

export function startScript(python: string, args: readonly string[]): Script {
  const child = spawn(python, [SCRIPT, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const lines: unknown[] = [];
  const errors: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk.toString()));
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
  const done = new Promise<unknown[]>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(lines);
      else reject(new Error(`${args[0]} ended with ${code}:\n${errors.join("")}`));
    });
  });
  // Whoever does not wait for it looks at the lines.
  done.catch(() => {});
  return { child, lines, done };
}
