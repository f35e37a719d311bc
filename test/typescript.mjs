// Lets plain Node run the repository's TypeScript: node --import ./test/typescript.mjs FILE.ts.
// Each file is stripped of its types when it is loaded, by the compiler that vite brings along;
// nothing is checked and nothing is written. Real modules, so measured code runs as it is.
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

// Node runs the hooks below in a thread of their own, from this same file.
if (isMainThread) register(import.meta.url);

export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
  const { transformWithOxc } = await import("vite");
  const file = fileURLToPath(url);
  const { code, map } = await transformWithOxc(await readFile(file, "utf8"), file);
  const encodedMap = Buffer.from(JSON.stringify(map)).toString("base64");
  const comment = `//# sourceMappingURL=data:application/json;base64,${encodedMap}`;
  return { format: "module", shortCircuit: true, source: `${code}\n${comment}\n` };
}
