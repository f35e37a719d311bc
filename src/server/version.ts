/**
 * The version of this product, from its package file, which lies two folders up from src/ and from
 * dist/ alike.
 */

import { readFileSync } from "node:fs";

let known: string | undefined;

export function productVersion(): string {
  known ??= readVersion();
  return known;
}

function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const parsed: unknown = JSON.parse(text);
  const isObject = typeof parsed === "object" && parsed !== null && "version" in parsed;
  return isObject ? String(parsed.version) : "unknown";
}
