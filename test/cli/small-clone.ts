// A small clone of the repository for the tests of the bootstrap and the binary, in a folder with
// spaces. npm, the compiler and vitest are stand-ins that note their calls, so that no network and
// little time is needed. What they note is in `calls()`.
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const cliFolder = fileURLToPath(new URL("../../src/cli", import.meta.url));

const PARTS: Record<string, string> = {
  "package.json": '{ "type": "module" }',
  "tsconfig.json": "{}",

  "npm/package.json": '{ "type": "commonjs" }',
  "npm/npm-cli.js": `
    const fs = require("node:fs");
    fs.appendFileSync("calls.txt", ["npm", ...process.argv.slice(2)].join(" ") + "\\n");
    if (fs.existsSync("npm-fails")) process.exit(7);
    fs.rmSync("node_modules", { recursive: true, force: true });
    fs.cpSync("tools", "node_modules", { recursive: true });
    fs.copyFileSync("package-lock.json", "node_modules/.package-lock.json");
  `,

  // "Compiles" by copying.
  "tools/typescript/bin/tsc": `
    const fs = require("node:fs");
    fs.appendFileSync("calls.txt", "tsc\\n");
    const outDir = process.argv[process.argv.indexOf("--outDir") + 1];
    fs.mkdirSync(outDir + "/cli", { recursive: true });
    if (fs.existsSync("tsc-fails")) process.exit(2);
    fs.copyFileSync("src/cli/main.ts", outDir + "/cli/main.js");
  `,

  // Writes the report that the test prepared, and ends as it says.
  "tools/vitest/vitest.mjs": `
    import fs from "node:fs";
    fs.appendFileSync("calls.txt", "vitest " + process.argv.at(-1) + "\\n");
    const file = process.argv.find((arg) => arg.startsWith("--outputFile.json=")).split("=")[1];
    const { report, exitCode } = JSON.parse(fs.readFileSync("prepared.json", "utf8"));
    if (report !== undefined) fs.writeFileSync(file, JSON.stringify(report));
    process.exitCode = exitCode;
  `,

  // Lets Node load TypeScript that is JavaScript.
  "test/typescript.mjs": `
    import fs from "node:fs";
    import { register } from "node:module";
    import { fileURLToPath } from "node:url";
    import { isMainThread } from "node:worker_threads";
    if (isMainThread) register(import.meta.url);
    export async function load(url, context, nextLoad) {
      if (!url.endsWith(".ts")) return nextLoad(url, context);
      const source = fs.readFileSync(fileURLToPath(url), "utf8");
      return { format: "module", shortCircuit: true, source };
    }
  `,

  // Writes the report that the test prepared, and ends as it says.
  "test/sim/main.ts": `
    import fs from "node:fs";
    const args = process.argv.slice(2);
    const at = args.indexOf("--json");
    fs.appendFileSync("calls.txt", ["sim", ...args.slice(0, at)].join(" ") + "\\n");
    const { report, exitCode } = JSON.parse(fs.readFileSync("prepared-seeds.json", "utf8"));
    if (report !== undefined) fs.writeFileSync(args[at + 1], JSON.stringify(report));
    process.exitCode = exitCode;
  `,

  // Says what it was given, fills the thread pool, then does what its arguments ask for.
  "src/cli/main.ts": `
    import fs from "node:fs";
    export async function main(argv) {
      await Promise.all(Array.from({ length: 16 }, () => fs.promises.readFile(process.argv[1])));
      const threads = process.platform === "linux" ? fs.readdirSync("/proc/self/task").length : 99;
      console.log(JSON.stringify({ argv, threads, poolSize: process.env.UV_THREADPOOL_SIZE }));
      if (argv.includes("--wait")) {
        setInterval(() => {}, 1_000_000);
        process.on("SIGINT", () => process.exit(41));
        process.on("SIGTERM", () => {
          fs.writeFileSync("was-told-to-end", "");
          process.exit(42);
        });
        console.log("waiting");
        await new Promise(() => {});
      }
      return argv.includes("--fail") ? 3 : 0;
    }
  `,
};

export type Ended = {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

export class SmallClone {
  readonly root: string = path.join(
    fs.mkdtempSync(path.join(tmpdir(), "cadastre-clone-")),
    "with some spaces",
  );

  constructor() {
    for (const file of ["bootstrap.mjs", "cadastre.cjs", "node-version.cjs", "npm-parent.cjs"]) {
      fs.cpSync(path.join(cliFolder, file), path.join(this.root, "src/cli", file));
    }
    for (const [file, text] of Object.entries(PARTS)) this.write(file, text);
    this.lock("1.0.0");
  }

  write(file: string, text: string): void {
    fs.mkdirSync(path.dirname(path.join(this.root, file)), { recursive: true });
    fs.writeFileSync(path.join(this.root, file), text);
  }

  /** A lockfile with one package, and one that is only for another platform. */
  lock(version: string): void {
    const packages = {
      "": { name: "clone" },
      "node_modules/one": { version, integrity: `sha-${version}` },
      "node_modules/other-platform": { version, integrity: "sha", optional: true },
    };
    this.write("package-lock.json", JSON.stringify({ packages }));
  }

  has(file: string): boolean {
    return fs.existsSync(path.join(this.root, file));
  }

  folders(): string[] {
    return fs.readdirSync(this.root);
  }

  calls(): string[] {
    if (!this.has("calls.txt")) return [];
    return fs.readFileSync(path.join(this.root, "calls.txt"), "utf8").trimEnd().split("\n");
  }

  launch(script: "bootstrap.mjs" | "cadastre.cjs", args: readonly string[]): ChildProcess {
    const npmScript = path.join(this.root, "npm/npm-cli.js");
    return spawn(process.execPath, [path.join(this.root, "src/cli", script), ...args], {
      cwd: this.root,
      env: { ...process.env, npm_execpath: npmScript, UV_THREADPOOL_SIZE: "4" },
    });
  }

  /** As npm does it: a shell runs the script, here under a second shell in the place of npm. */
  launchByNpm(
    lifecycleEvent: "start" | "npx",
    script: "bootstrap.mjs" | "cadastre.cjs",
    args: readonly string[],
  ): ChildProcess {
    const command = [process.execPath, path.join(this.root, "src/cli", script), ...args];
    const [inner, outer] = ['"$0" "$@"; exit', 'sh -c "$INNER" "$0" "$@"; exit'];
    return spawn("sh", ["-c", outer, ...command], {
      cwd: this.root,
      env: { ...process.env, INNER: inner, npm_lifecycle_event: lifecycleEvent },
    });
  }

  run(script: "bootstrap.mjs" | "cadastre.cjs", ...args: string[]): Promise<Ended> {
    return endOf(this.launch(script, args));
  }

  remove(): void {
    fs.rmSync(path.dirname(this.root), { recursive: true, force: true });
  }
}

export function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr?.on("data", (chunk) => (stderr += String(chunk)));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}

/** Resolves when the process has written these words to its standard output. */
export function hasSaid(child: ChildProcess, words: string): Promise<void> {
  let stdout = "";
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (chunk) => {
      stdout += String(chunk);
      if (stdout.includes(words)) resolve();
    });
    child.once("close", () => reject(new Error(`ended without saying ${words}: ${stdout}`)));
  });
}
