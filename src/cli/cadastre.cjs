#!/usr/bin/env node
// The `cadastre` binary. It is CommonJS on purpose: Node reads an ES module entry point through the
// libuv thread pool, which fixes the size of the pool before any of our code runs. LevelDB's synced
// writes, reads and the DNS share that pool, and four threads let one slow disk stall all of them.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const v8 = require("node:v8");
const { pathToFileURL } = require("node:url");
const { nodeVersionRefusal } = require("./node-version.cjs");
const { onNpmGone } = require("./npm-parent.cjs");

const THREAD_POOL_SIZE_MIN = 16;
const MAIN = path.resolve(__dirname, "../../dist/cli/main.js");

function run() {
  const refusal = nodeVersionRefusal(process.versions.node);
  if (refusal !== undefined) return fail(refusal);
  if (!fs.existsSync(MAIN)) {
    return fail(
      "cadastre: not built yet. Run `npm run build` in " + path.resolve(MAIN, "../../.."),
    );
  }
  growThreadPool();
  boundGarbage();
  endWithParent();
  import(pathToFileURL(MAIN).href)
    .then((cli) => cli.main(process.argv.slice(2)))
    .then((exitCode) => {
      if (typeof exitCode === "number") process.exitCode = exitCode;
    })
    .catch((error) => fail(error instanceof Error ? error.stack : String(error)));
}

/** Read once, when the first task enters the pool. The servers that we start inherit it. */
function growThreadPool() {
  const asked = Number(process.env.UV_THREADPOOL_SIZE);
  if (asked >= THREAD_POOL_SIZE_MIN) return;
  process.env.UV_THREADPOOL_SIZE = String(THREAD_POOL_SIZE_MIN);
}

/**
 * V8 lets garbage grow to several times what lives before it collects it, where there is memory: a
 * busy server would take a gigabyte for what is 100 MB. Half as much again as what lives is enough
 * to collect rarely. It is read anew at each collection.
 */
function boundGarbage() {
  v8.setFlagsFromString("--heap-growing-percent=50");
}

/** A parent that holds a channel to us (`npm start`), or npx, takes us along when it is killed. */
function endWithParent() {
  onNpmGone("npx", () => process.kill(process.pid, "SIGTERM"));
  if (process.channel === undefined) return;
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

run();
