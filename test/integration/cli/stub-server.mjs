// Stands in for `cadastre serve` in the tests of the launcher: it opens the same ports, answers
// /readyz, and stops on a signal or when its parent ends. Files in its data directory change what
// it does: `fail` ends it at once, `stubborn` makes it ignore SIGTERM, `slow` lets it live on
// for a second without its parent.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import path from "node:path";
import { parse } from "yaml";

const configFile = process.argv[process.argv.indexOf("--config") + 1];
const config = parse(readFileSync(configFile, "utf8"));
const { id, dataDir } = config.server;
const isSet = (name) => existsSync(path.join(dataDir, name));

if (isSet("fail")) {
  process.stderr.write("cadastre: the disk is on fire. Put it out.\n");
  process.exit(1);
}
const starts = path.join(dataDir, "starts");
writeFileSync(starts, `${isSet("starts") ? Number(readFileSync(starts, "utf8")) + 1 : 1}`);

const stop = (why) => {
  if (isSet("stubborn")) return;
  writeFileSync(path.join(dataDir, "stopped"), why);
  process.exit(0);
};
process.on("SIGTERM", () => stop("SIGTERM"));
process.on("SIGINT", () => undefined);
process.on("disconnect", () => setTimeout(() => process.exit(0), isSet("slow") ? 1_000 : 0));

if (process.env.STUB_PRINT_ENV !== undefined) {
  const names = Object.keys(process.env).filter((name) => name.startsWith("CADASTRE_"));
  process.stdout.write(`s${id} env: ${names.join(",")}\n`);
}

const portOf = (address) => Number(address.split(":").at(-1));
for (const address of [config.listen.grpc, config.listen.peer]) {
  createServer().listen(portOf(address), "127.0.0.1");
}
createHttpServer((request, response) => {
  if (request.url === "/crash") process.exit(3);
  response.end("ok\n");
}).listen(portOf(config.listen.http), "127.0.0.1");
process.stdout.write(
  `00:00:00.000 s${id} serving format=${config.log.format} id=${config.cluster.id}\n`,
);
