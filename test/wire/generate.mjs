// Writes the types of all proto files to src/wire/generated, or to the folder that is given.
// The options mirror LOADER_OPTIONS in src/wire/load.ts. Of a file without a service the root file
// is left out: nothing uses it, and its unused imports do not compile. Reflection's older name is
// left out, too: its messages are those of v1, and its root file would take the place of v1's.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const generator = "node_modules/@grpc/proto-loader/build/bin/proto-loader-gen-types.js";
const outDir = resolve(root, process.argv[2] ?? "src/wire/generated");

const protos = readdirSync(join(root, "proto"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".proto") && !path.includes("/v1alpha/"))
  .sort((a, b) => (a < b ? -1 : 1));

const options = [
  "--longs=String",
  "--enums=String",
  "--defaults",
  "--oneofs",
  "--grpcLib=@grpc/grpc-js",
  "--importFileExtension=.ts",
  "--includeDirs=proto",
  `--outDir=${outDir}`,
];

rmSync(outDir, { recursive: true, force: true });
execFileSync(process.execPath, [generator, ...options, ...protos], { cwd: root, stdio: "inherit" });
for (const path of protos) {
  if (/^service /m.test(readFileSync(join(root, "proto", path), "utf8"))) continue;
  rmSync(join(outDir, `${basename(path, ".proto")}.ts`));
}
