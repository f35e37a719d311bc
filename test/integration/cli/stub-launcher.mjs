// `cadastre dev ...` with the stub server in the place of `cadastre serve`.
import { fileURLToPath } from "node:url";
import { devCommand } from "../../../dist/cli/commands/dev.js";
import { runCli } from "../../../dist/cli/program.js";

const stub = fileURLToPath(new URL("stub-server.mjs", import.meta.url));
const sinkOf = (stream) => ({ write: (text) => void stream.write(text), columns: undefined });

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: sinkOf(process.stdout),
  stderr: sinkOf(process.stderr),
  env: process.env,
  cwd: process.cwd(),
  commands: [devCommand({ file: process.execPath, args: [stub] })],
});
