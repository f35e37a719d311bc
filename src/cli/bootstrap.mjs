// What stands behind `npm start`, `npm test` and the other scripts: it makes a fresh clone ready
// and then runs the command. Plain JavaScript on Node's own modules, because nothing is installed
// or built when it starts. It installs when node_modules does not match the lockfile, and builds
// when the sources are not those that dist was made from; a second run does neither and needs no
// network.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import nodeVersion from "./node-version.cjs";
import npmParent from "./npm-parent.cjs";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const BUILD_INPUTS = ["src", "proto", "tsconfig.json", "package-lock.json"];
const TOOLS = {
  tsc: "node_modules/typescript/bin/tsc",
  oxlint: "node_modules/oxlint/bin/oxlint",
  oxfmt: "node_modules/oxfmt/bin/oxfmt",
  vitest: "node_modules/vitest/vitest.mjs",
};
/** Lets Node run the TypeScript of the tests. A URL, as --import wants it. */
const TYPESCRIPT = new URL("../../test/typescript.mjs", import.meta.url).href;
const SIMULATION = ["--import", TYPESCRIPT, path.join(ROOT, "test/sim/main.ts")];
const TEST_SEEDS = "200";
const CHECK_MINUTES = "1";
const NO_SEEDS = { passed: 0, failed: 0 };
/** A silent minute looks like a hang, so a long step says that it is still at work. */
const STILL_WORKING_INTERVAL_MS = 15_000;
/** A terminal and npm both pass on one Ctrl-C; a signal this much later is a second one. */
const REPEATED_SIGNAL_MS = 1_000;

const COMMANDS = { start, test, build, lint, check, fix, bench, sim };

class StepFailed extends Error {}

async function main() {
  const [name, ...rest] = process.argv.slice(2);
  const args = rest[0] === "--" ? rest.slice(1) : rest;
  const refusal = nodeVersion.nodeVersionRefusal(process.versions.node);
  try {
    if (refusal !== undefined) throw new StepFailed(refusal);
    if (!Object.hasOwn(COMMANDS, name ?? "")) {
      throw new StepFailed(`usage: bootstrap.mjs ${Object.keys(COMMANDS).join("|")} [arguments]`);
    }
    process.exitCode = await COMMANDS[name](args);
  } catch (error) {
    console.error(error instanceof StepFailed ? error.message : error);
    if (name === "test") console.log("0 passed, 1 failed");
    process.exitCode = 1;
  }
}

// ---- Commands. Each answers the exit code.

/** A local cluster: of three servers, or as the one that the folder holds already. */
async function start(args) {
  await install();
  await compile();
  const dev = ["dev", "--data-dir", path.join(ROOT, ".cadastre")];
  return supervise("start", [path.join(ROOT, "src/cli/cadastre.cjs"), ...dev, ...args]);
}

/** All tests and the simulation's short form; with arguments, the tests that they choose. */
async function test(args) {
  await install();
  await compile();
  const tests = await runTests(args);
  const seeds = args.length === 0 ? await runSeeds(["--seeds", TEST_SEEDS]) : NO_SEEDS;
  const failed = tests.failed + seeds.failed;
  console.log(`${tests.passed + seeds.passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function build() {
  await install();
  const built = await compile();
  if (!built) say("dist is up to date");
  return 0;
}

async function lint(args) {
  await install();
  return runTool("oxlint", args.length > 0 ? args : ["src", "test"]);
}

/** What a change must pass, all of it even if the first part fails. It writes nothing. */
async function check() {
  await install();
  const parts = {
    types: () => runTool("tsc", ["-p", "test/tsconfig.json"]),
    lint: () => runTool("oxlint", ["src", "test"]),
    format: () => runTool("oxfmt", ["--check", ...FORMATTED]),
    "unit tests": async () => (await runTests(["--project", "unit"])).failed,
    simulation: async () => (await runSeeds(["--minutes", CHECK_MINUTES])).failed,
  };
  const failed = [];
  for (const [part, run] of Object.entries(parts)) {
    const startedAtMs = performance.now();
    const exitCode = await run();
    say(`${part} ${exitCode === 0 ? "passed" : "FAILED"} (${elapsedSince(startedAtMs)})`);
    if (exitCode !== 0) failed.push(part);
  }
  say(failed.length === 0 ? "check passed" : `check failed: ${failed.join(", ")}`);
  return failed.length === 0 ? 0 : 1;
}

async function fix() {
  await install();
  const lintExitCode = await runTool("oxlint", ["--fix", "src", "test"]);
  const formatExitCode = await runTool("oxfmt", FORMATTED);
  return Math.max(lintExitCode, formatExitCode);
}

/** A script of the tests, on the built servers. */
async function bench(args) {
  await install();
  await compile();
  return supervise("bench", [
    "--import",
    TYPESCRIPT,
    path.join(ROOT, "test/bench/main.ts"),
    ...args,
  ]);
}

/** The deterministic simulation of the whole: many seeds, or one in words. */
async function sim(args) {
  await install();
  return supervise("sim", [...SIMULATION, ...args]);
}

const FORMATTED = ["src/**/*.{ts,mjs,cjs}", "test/**/*.ts", "*.json"];

// ---- Install.

async function install() {
  if (isInstalled()) return;
  const first = !fs.existsSync(path.join(ROOT, "node_modules"));
  const why = first ? "first start only" : "package-lock.json changed";
  await step(`installing dependencies (${why})`, async () => {
    const npm = npmCommand();
    const flags = ["ci", "--no-audit", "--no-fund", "--loglevel=warn"];
    const exitCode = await run(npm.file, [...npm.args, ...flags]);
    if (exitCode === 0) return;
    throw new StepFailed(
      `cadastre: npm ci failed (exit ${exitCode}). If the lines above speak of the network,` +
        " check that npm's registry can be reached; then run the command again.",
    );
  });
}

/** npm keeps a record of what it installed, written when all of it is in place. */
function isInstalled() {
  const wanted = readJson("package-lock.json");
  const present = readJson("node_modules/.package-lock.json");
  if (wanted === undefined) throw new StepFailed("cadastre: package-lock.json is missing");
  if (present === undefined) return false;
  return Object.entries(wanted.packages).every(([name, entry]) => {
    if (name === "") return true;
    const installed = present.packages[name];
    // Binaries for other platforms are optional and absent.
    if (installed === undefined) return entry.optional === true;
    return installed.version === entry.version && installed.integrity === entry.integrity;
  });
}

/** The npm that started us, else the one beside this Node, else whatever PATH has. */
function npmCommand() {
  const candidates = [
    process.env.npm_execpath ?? "",
    path.join(path.dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js"),
  ];
  const script = candidates.find((file) => file.endsWith("npm-cli.js") && fs.existsSync(file));
  return script === undefined
    ? { file: "npm", args: [] }
    : { file: process.execPath, args: [script] };
}

// ---- Build.

/** Answers whether anything had to be built. A failed build leaves the old dist as it was. */
async function compile() {
  const stamp = hashOf(BUILD_INPUTS);
  const dist = path.join(ROOT, "dist");
  if (readText("dist/.stamp") === stamp) return false;
  await step("building", async () => {
    // Into a folder of its own, so that files of deleted sources do not stay behind.
    const fresh = path.join(ROOT, `dist.${process.pid}`);
    try {
      const exitCode = await runTool("tsc", ["-p", "tsconfig.json", "--outDir", fresh]);
      if (exitCode !== 0) throw new StepFailed("cadastre: the build failed; the errors are above");
      fs.writeFileSync(path.join(fresh, ".stamp"), stamp);
      replaceFolder(dist, fresh);
    } finally {
      fs.rmSync(fresh, { recursive: true, force: true });
    }
  });
  return true;
}

/** Two runs may build at once; each swaps in a whole build, and the later one stays. */
function replaceFolder(folder, fresh) {
  const old = `${fresh}.old`;
  for (;;) {
    if (fs.existsSync(folder)) renameUnless("ENOENT", folder, old);
    const isDone = renameUnless("ENOTEMPTY", fresh, folder);
    fs.rmSync(old, { recursive: true, force: true });
    if (isDone) return;
  }
}

function renameUnless(expectedCode, from, to) {
  try {
    fs.renameSync(from, to);
    return true;
  } catch (error) {
    if (error.code === expectedCode) return false;
    throw error;
  }
}

function hashOf(inputs) {
  const hash = createHash("sha256");
  for (const file of inputs.flatMap(filesUnder)) {
    const bytes = fs.readFileSync(path.join(ROOT, file));
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

function filesUnder(relative) {
  const absolute = path.join(ROOT, relative);
  const info = fs.statSync(absolute, { throwIfNoEntry: false });
  if (info === undefined) return [];
  if (!info.isDirectory()) return [relative];
  return fs
    .readdirSync(absolute)
    .sort((a, b) => (a < b ? -1 : 1))
    .flatMap((name) => filesUnder(path.join(relative, name)));
}

// ---- Tests.

/** Runs vitest and counts from its report; a file that does not load or has no test failed. */
async function runTests(args) {
  const reportDir = fs.mkdtempSync(path.join(os.tmpdir(), "cadastre-test-"));
  const reportFile = path.join(reportDir, "report.json");
  try {
    const exitCode = await runTool("vitest", [
      "run",
      "--config=test/vitest.config.ts",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${reportFile}`,
      ...args,
    ]);
    return tally(readJson(reportFile), exitCode);
  } finally {
    fs.rmSync(reportDir, { recursive: true, force: true });
  }
}

/** Runs the simulation and counts seeds from its report; without one, something else failed. */
async function runSeeds(args) {
  const reportDir = fs.mkdtempSync(path.join(os.tmpdir(), "cadastre-sim-"));
  const reportFile = path.join(reportDir, "report.json");
  try {
    const exitCode = await run(process.execPath, [...SIMULATION, ...args, "--json", reportFile]);
    const report = readJson(reportFile);
    const failed = report?.failed.length ?? 0;
    return { passed: report?.passed ?? 0, failed: exitCode === 0 ? failed : Math.max(1, failed) };
  } finally {
    fs.rmSync(reportDir, { recursive: true, force: true });
  }
}

function tally(report, vitestExitCode) {
  const files = report?.testResults ?? [];
  const passed = report?.numPassedTests ?? 0;
  const brokenFiles = files.filter(
    (file) =>
      file.status !== "passed" && !file.assertionResults.some((one) => one.status === "failed"),
  ).length;
  let failed = (report?.numFailedTests ?? 0) + brokenFiles;
  // An error outside any test, a run without tests, or no report at all is a failure too.
  if (failed === 0 && (vitestExitCode !== 0 || passed === 0)) failed = 1;
  return { passed, failed };
}

// ---- Processes.

function runTool(tool, args) {
  return run(process.execPath, [path.join(ROOT, TOOLS[tool]), ...args]);
}

/** Answers the exit code; a signal counts as in a shell. */
function run(file, args) {
  const child = spawn(file, args, { cwd: ROOT, stdio: "inherit" });
  const end = () => child.kill("SIGTERM");
  process.on("SIGTERM", end);
  return exitCodeOf(child).finally(() => process.off("SIGTERM", end));
}

function exitCodeOf(child) {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + os.constants.signals[signal]));
  });
}

/**
 * Runs a long-lived process so that ending us ends it, and all that it started. It has a process
 * group of its own: a terminal's Ctrl-C reaches it once, through us, and not a second time from
 * the terminal or from npm. The channel tells it when we are killed outright.
 */
async function supervise(lifecycleEvent, args) {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  let firstSignalAtMs;
  const onSignal = (signal) => {
    const nowMs = performance.now();
    if (firstSignalAtMs === undefined) {
      firstSignalAtMs = nowMs;
      child.kill(signal);
    } else if (nowMs - firstSignalAtMs > REPEATED_SIGNAL_MS) {
      killGroup(child.pid);
    }
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, onSignal);
  npmParent.onNpmGone(lifecycleEvent, () => onSignal("SIGTERM"));
  const exitCode = await exitCodeOf(child);
  killGroup(child.pid);
  return exitCode;
}

function killGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

// ---- Words.

async function step(what, work) {
  const startedAtMs = performance.now();
  say(what);
  const timer = setInterval(
    () => say(`still ${what} (${elapsedSince(startedAtMs)})`),
    STILL_WORKING_INTERVAL_MS,
  );
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  say(`done ${what} (${elapsedSince(startedAtMs)})`);
}

function say(line) {
  console.error(`cadastre: ${line}`);
}

function elapsedSince(startedAtMs) {
  return `${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`;
}

function readText(relative) {
  try {
    return fs.readFileSync(path.resolve(ROOT, relative), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function readJson(relative) {
  const text = readText(relative);
  return text === undefined ? undefined : JSON.parse(text);
}

await main();
