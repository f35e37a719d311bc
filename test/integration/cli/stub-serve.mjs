// `cadastre serve` around a stand-in for the server: runServeProcess as it is, and a `startServer`
// that does what the first argument says.
import { pbkdf2 } from "node:crypto";
import { InvariantError } from "../../../dist/base/assert.js";
import { runCli } from "../../../dist/cli/program.js";
import { runServeProcess } from "../../../dist/cli/serve-process.js";
import { loadConfig } from "../../../dist/server/config/load.js";

const [mode, format] = process.argv.slice(2);
const address = "127.0.0.1:0";
const flags = { id: "1", "data-dir": "unused", grpc: address, peer: address, http: address };
const loaded = loadConfig({ env: {}, flags: { ...flags, log: format ?? "json" } });
const sinkOf = (stream) => ({ write: (text) => void stream.write(text), columns: undefined });
const soon = (run) => void setTimeout(() => run(), 50);

async function startServer(_config, logger) {
  if (mode === "busy") {
    const remedy = "give another port in listen.grpc";
    throw Object.assign(new Error("cannot listen on h:1: another process uses the port"), {
      remedy,
    });
  }
  if (mode === "bug at start") throw new InvariantError("a group has a replica");
  if (mode === "slow start") logger.info("startingSlowly");
  if (mode === "slow start") await new Promise((resolve) => setTimeout(resolve, 60_000));
  const keepAlive = setInterval(() => undefined, 1_000);
  let fail = () => undefined;
  const failed = new Promise((resolve) => (fail = resolve));
  if (mode === "fails") soon(() => fail(new Error("a write to the log store was rejected")));
  if (mode === "bug")
    soon(() => {
      throw new InvariantError("entries are contiguous");
    });
  if (mode === "rejection") soon(() => void Promise.reject(new TypeError("x is not a function")));
  if (mode === "busy pool") process.prependListener("SIGTERM", fillThreadPool);
  logger.info("serving", { pid: process.pid });
  return {
    addresses: { grpc: address, peer: address, http: address },
    status: () => ({}),
    failed,
    stop: async () => {
      logger.info("draining");
      if (mode === "stuck") await new Promise(() => undefined);
      if (mode === "slow stop") await new Promise((resolve) => setTimeout(resolve, 2_000));
      if (mode !== "lingers") clearInterval(keepAlive);
    },
  };
}

/** Writes in the background wait behind this, while the event loop is free. */
function fillThreadPool() {
  for (let i = 0; i < 32; i++) pbkdf2("password", "salt", 10_000, 32, "sha256", () => undefined);
}

process.exitCode = await runCli(["serve"], {
  stdout: sinkOf(process.stdout),
  stderr: sinkOf(process.stderr),
  env: process.env,
  cwd: process.cwd(),
  commands: [
    {
      register(program, context) {
        program
          .command("serve")
          .action(() => runServeProcess({ context, loaded: loaded.value, startServer }));
      },
    },
  ],
});
