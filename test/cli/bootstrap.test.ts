// What `npm start` and `npm test` do on a fresh clone and on a ready one, and how the binary starts
// from there: in the small clone of small-clone.ts.
import { createRequire } from "node:module";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { endOf, hasSaid, SmallClone } from "./small-clone.ts";

const Said = z.object({ argv: z.array(z.string()), threads: z.number(), poolSize: z.string() });
const NPM_CI = "npm ci --no-audit --no-fund --loglevel=warn";

let clone: SmallClone;
beforeEach(() => {
  clone = new SmallClone();
});
afterEach(() => {
  clone.remove();
});

function said(stdout: string): z.infer<typeof Said> {
  return Said.parse(JSON.parse(stdout.split("\n")[0] ?? ""));
}

describe("a start", () => {
  test("installs and builds a fresh clone, says so, and runs the local cluster", async () => {
    const { exitCode, stdout, stderr } = await clone.run(
      "bootstrap.mjs",
      "start",
      "--fresh",
      "a b",
    );
    expect(stderr).toMatch(/^cadastre: installing dependencies \(first start only\)\n/);
    expect(stderr).toMatch(/done building \(\d+\.\d s\)\n$/);
    expect(clone.calls()).toEqual([NPM_CI, "tsc"]);
    const dev = ["dev", "--data-dir", `${clone.root}/.cadastre`];
    expect(said(stdout).argv).toEqual([...dev, "--fresh", "a b"]);
    expect(exitCode).toBe(0);
  });

  test("does neither a second time, and says nothing about it", async () => {
    await clone.run("bootstrap.mjs", "build");
    const { stderr } = await clone.run("bootstrap.mjs", "start");
    expect(stderr).toBe("");
    expect(clone.calls()).toHaveLength(2);
  });

  test("may build at the same time as another, and both end well", async () => {
    await clone.run("bootstrap.mjs", "build");
    clone.write("src/base/new.ts", "export {};");
    const both = [clone.run("bootstrap.mjs", "start"), clone.run("bootstrap.mjs", "start")];
    expect((await Promise.all(both)).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(clone.folders().filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
  });

  test("installs again when the lockfile changed, and builds again when a source changed", async () => {
    await clone.run("bootstrap.mjs", "build");
    clone.lock("1.0.1");
    const { stderr } = await clone.run("bootstrap.mjs", "build");
    expect(stderr).toContain("(package-lock.json changed)");
    clone.write("src/base/new.ts", "export {};");
    await clone.run("bootstrap.mjs", "build");
    expect(clone.calls()).toEqual([NPM_CI, "tsc", NPM_CI, "tsc", "tsc"]);
  });

  test("passes the exit code on", async () => {
    expect((await clone.run("bootstrap.mjs", "start", "--fail")).exitCode).toBe(3);
  });

  test("names the cause when npm fails, and does not go on", async () => {
    clone.write("npm-fails", "");
    const { exitCode, stderr } = await clone.run("bootstrap.mjs", "start");
    expect(stderr).toContain("npm ci failed (exit 7)");
    expect(exitCode).toBe(1);
    expect(clone.calls()).toEqual([NPM_CI]);
  });

  test("keeps the last good build when a build fails, and tries again next time", async () => {
    await clone.run("bootstrap.mjs", "build");
    clone.write("tsc-fails", "");
    clone.write("src/base/new.ts", "export {};");
    expect((await clone.run("bootstrap.mjs", "start")).exitCode).toBe(1);
    expect(clone.has("dist/cli/main.js")).toBe(true);
    expect((await clone.run("bootstrap.mjs", "start")).exitCode).toBe(1);
    expect(clone.calls()).toEqual([NPM_CI, "tsc", "tsc", "tsc"]);
  });

  test.each([
    ["SIGINT", 41],
    ["SIGTERM", 42],
  ] as const)("hands %s to the cluster once and ends with its exit code", async (signal, code) => {
    const child = clone.launch("bootstrap.mjs", ["start", "--wait"]);
    const ended = endOf(child);
    await hasSaid(child, "waiting");
    child.kill(signal);
    expect((await ended).exitCode).toBe(code);
  });

  test("that is killed outright takes the cluster along", async () => {
    const child = clone.launch("bootstrap.mjs", ["start", "--wait"]);
    // Its output closes only when the last process that holds it has ended.
    const ended = endOf(child);
    await hasSaid(child, "waiting");
    child.kill("SIGKILL");
    await ended;
    expect(clone.has("was-told-to-end")).toBe(true);
  });
});

describe("whoever ends npm ends what it runs", () => {
  test.each([
    ["start", "bootstrap.mjs"],
    ["npx", "cadastre.cjs"],
  ] as const)("npm (%s) that is killed outright takes the command along", async (event, script) => {
    await clone.run("bootstrap.mjs", "build");
    const npm = clone.launchByNpm(event, script, ["start", "--wait"]);
    const ended = endOf(npm);
    await hasSaid(npm, "waiting");
    npm.kill("SIGKILL");
    await ended;
    expect(clone.has("was-told-to-end")).toBe(true);
  });

  test("npm start, test, bench and sim leave no shell that would keep signals to itself", () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(createRequire(import.meta.url)("../../package.json"));
    for (const name of ["start", "test", "bench", "sim"]) {
      expect(scripts[name]).toBe(`exec node src/cli/bootstrap.mjs ${name}`);
    }
  });
});

describe("a test run ends with its count, from the report and not from the text", () => {
  const passedFile = { status: "passed", assertionResults: [{ status: "passed" }] };
  const failedFile = { status: "failed", assertionResults: [{ status: "failed" }] };
  const emptyFile = { status: "failed", assertionResults: [] };
  const report = (passed: number, failed: number, files: readonly unknown[]): unknown => ({
    numPassedTests: passed,
    numFailedTests: failed,
    testResults: files,
  });

  test.each([
    ["all passed", report(5, 0, [passedFile]), 0, "5 passed, 0 failed"],
    ["one failed", report(4, 1, [failedFile, passedFile]), 1, "4 passed, 1 failed"],
    ["a file did not load or had no test", report(4, 0, [emptyFile]), 1, "4 passed, 1 failed"],
    ["an error outside any test", report(4, 0, [passedFile]), 1, "4 passed, 1 failed"],
    ["no test at all", report(0, 0, []), 0, "0 passed, 1 failed"],
    ["no report", undefined, 0, "0 passed, 1 failed"],
  ])("%s", async (_, prepared, vitestExitCode, lastLine) => {
    clone.write("prepared.json", JSON.stringify({ report: prepared, exitCode: vitestExitCode }));
    const { exitCode, stdout } = await clone.run("bootstrap.mjs", "test", "raft");
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(lastLine);
    expect(exitCode).toBe(lastLine.endsWith(" 0 failed") ? 0 : 1);
    expect(clone.calls()).toEqual([NPM_CI, "tsc", "vitest raft"]);
  });

  const fiveTests = { report: report(5, 0, [passedFile]), exitCode: 0 };
  test.each([
    ["all passed", { passed: 200, failed: [] }, 0, "205 passed, 0 failed"],
    ["one failed", { passed: 199, failed: [{ seed: 7, what: "x" }] }, 1, "204 passed, 1 failed"],
    ["they did not cover", { passed: 200, failed: [] }, 1, "205 passed, 1 failed"],
    ["no report", undefined, 1, "5 passed, 1 failed"],
  ])("with the simulation's seeds, if %s", async (_, prepared, simExitCode, lastLine) => {
    clone.write("prepared.json", JSON.stringify(fiveTests));
    const seeds = { report: prepared, exitCode: simExitCode };
    clone.write("prepared-seeds.json", JSON.stringify(seeds));
    const { exitCode, stdout } = await clone.run("bootstrap.mjs", "test");
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(lastLine);
    expect(exitCode).toBe(lastLine.endsWith(" 0 failed") ? 0 : 1);
    expect(clone.calls().at(-1)).toBe("sim --seeds 200");
  });

  test("a broken build", async () => {
    clone.write("tsc-fails", "");
    const { exitCode, stdout } = await clone.run("bootstrap.mjs", "test");
    expect(stdout).toBe("0 passed, 1 failed\n");
    expect(exitCode).toBe(1);
  });
});

describe("the binary", () => {
  test("has a pool of 16 threads when it runs, directly or through a start", async () => {
    await clone.run("bootstrap.mjs", "build");
    for (const script of ["cadastre.cjs", "bootstrap.mjs"] as const) {
      const { stdout } = await clone.run(script, "start");
      expect(said(stdout).poolSize).toBe("16");
      // Node itself has a handful of threads; a pool of 4 would leave us far below.
      expect(said(stdout).threads).toBeGreaterThan(16);
    }
  });

  test("says what to do when nothing is built", async () => {
    const { exitCode, stderr } = await clone.run("cadastre.cjs", "x");
    expect(stderr).toBe(`cadastre: not built yet. Run \`npm run build\` in ${clone.root}\n`);
    expect(exitCode).toBe(1);
  });
});

test("a Node that cannot run Cadastre is refused in one line with the remedy", () => {
  const { nodeVersionRefusal } = z
    .object({ nodeVersionRefusal: z.custom<(version: string) => string | undefined>() })
    .parse(createRequire(import.meta.url)("../../src/cli/node-version.cjs"));
  for (const version of ["16.20.2", "18.20.0", "20.18.3", "21.7.0"]) {
    expect(nodeVersionRefusal(version)).toMatch(/^cadastre: Node \S+ is .*nvm install 20.*$/);
  }
  for (const version of ["20.19.0", "20.20.2", "22.1.0", "24.0.0"]) {
    expect(nodeVersionRefusal(version)).toBeUndefined();
  }
});
