// A server's configuration from its sources: flags win over the environment, that over the file,
// that over the defaults, key by key. Every problem is one line that names the key's path and,
// where it came from outside the file, its source. Reads nothing; the caller brings the texts.
import { parse, parseDocument } from "yaml";
import type { z } from "zod";
import { failed, ok, type Result } from "../../base/result.ts";
import { completeConfig } from "./complete.ts";
import { nearMiss } from "./near-miss.ts";
import {
  CONFIG_DEFAULTS,
  configSchema,
  knownKeysAt,
  type MergedConfig,
  type ServerConfig,
} from "./schema.ts";
import { SETTINGS, type Setting } from "./settings.ts";

export interface ConfigSources {
  /** The text of the YAML file, and its name for errors. */
  readonly file?: { readonly name: string; readonly text: string };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By flag name as in SETTINGS; absent and undefined mean not given. */
  readonly flags: Readonly<Record<string, string | undefined>>;
}

export interface LoadedConfig {
  readonly config: ServerConfig;
  /** What an operator should know and what does not prevent the start, one line each. */
  readonly warnings: readonly string[];
}

/** The configuration, or every problem found, one line each. */
export function loadConfig(sources: ConfigSources): Result<LoadedConfig, readonly string[]> {
  const file = parseFile(sources.file);
  if (!file.ok) return file;
  const tree = mergeDeep(CONFIG_DEFAULTS, file.value);
  const origins = applySettings(tree, sources);
  const parsed = configSchema.safeParse(tree);
  if (!parsed.success) {
    return failed(parsed.error.issues.flatMap((issue) => problemsOf(issue, tree, origins)));
  }
  const completed = completeConfig(parsed.data satisfies MergedConfig);
  if (!completed.ok) return failed(completed.error);
  const warnings = [...unknownVariables(sources.env), ...completed.value.warnings];
  return ok({ config: completed.value.config, warnings });
}

type Tree = { [key: string]: unknown };

function parseFile(file: ConfigSources["file"]): Result<Tree, readonly string[]> {
  if (file === undefined) return ok({});
  const document = parseDocument(file.text, { prettyErrors: true });
  if (document.errors.length > 0) {
    return failed(
      document.errors.map((error) => {
        const line = error.linePos?.[0].line;
        const what = error.message.split(/ at line|\n/)[0] ?? "not YAML";
        return `${file.name}${line === undefined ? "" : `:${line}`}: ${what}`;
      }),
    );
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch {
    return failed([`${file.name}: aliases are not supported`]);
  }
  if (value === null || value === undefined) return ok({});
  if (isTree(value)) return ok(value);
  return failed([`${file.name}: must hold keys and values, not ${nameOf(value)}`]);
}

/** Objects key by key; everything else, lists included, as a whole. Null means nothing said. */
function mergeDeep(below: Readonly<Tree>, above: Readonly<Tree>): Tree {
  const merged: Tree = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const lower = Object.hasOwn(below, key) ? below[key] : undefined;
    if (isTree(lower) && (isTree(value) || value === null)) {
      merged[key] = mergeDeep(lower, value ?? {});
    } else if (value !== null) {
      merged[key] = value;
    }
  }
  return merged;
}

/** Puts variables and flags into the tree and answers which path came from where. */
function applySettings(tree: Tree, sources: ConfigSources): ReadonlyMap<string, string> {
  const origins = new Map<string, string>();
  for (const setting of SETTINGS) {
    const flagText = setting.flag === undefined ? undefined : sources.flags[setting.flag];
    const text = flagText ?? nonEmpty(sources.env[setting.variable]);
    if (text === undefined) continue;
    origins.set(setting.path, flagText === undefined ? setting.variable : `--${setting.flag}`);
    const keys = setting.path.split(".");
    const last = keys.pop() ?? setting.path;
    let at = tree;
    for (const key of keys) {
      const inner = at[key];
      at = at[key] = isTree(inner) ? { ...inner } : {};
    }
    at[last] = settingValue(setting, text);
  }
  return origins;
}

/** The text of a variable or flag as a value; nonsense is left for the schema to refuse. */
function settingValue(setting: Setting, text: string): unknown {
  switch (setting.kind) {
    case "text":
      return text;
    case "number":
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case "yaml":
      try {
        return parse(text) as unknown;
      } catch {
        return text;
      }
  }
}

/** An empty variable is how compose and units spell "not set". */
function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

// ---- Problems.

function problemsOf(
  issue: z.core.$ZodIssue,
  tree: Tree,
  origins: ReadonlyMap<string, string>,
): readonly string[] {
  const path = pathText(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => {
      const known = knownKeysAt(issue.path);
      const meant = nearMiss(key, known);
      const hint = meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${meant}?`;
      return `${path === "" ? key : `${path}.${key}`}: unknown key; ${hint}`;
    });
  }
  const origin = origins.get(path);
  const value = valueAt(tree, issue.path);
  if (value === undefined) {
    const setting = SETTINGS.find((one) => one.path === path);
    const flag = setting?.flag === undefined ? "" : `--${setting.flag} or `;
    const how = setting === undefined ? "" : `; give it in the file, by ${flag}${setting.variable}`;
    return [`${path}: is missing${how}`];
  }
  const source = origin === undefined ? "" : ` (${origin})`;
  return [`${path}${source}: ${demandOf(issue)}, not ${nameOf(value)}`];
}

function demandOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (!issue.message.startsWith("Invalid input")) return issue.message;
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case "too_small":
      return `must be at least ${issue.minimum}${lengthOf(issue.origin)}`;
    case "too_big":
      return `must be at most ${issue.maximum}${lengthOf(issue.origin)}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "unrecognized_keys":
    case "invalid_format":
    case "not_multiple_of":
    case "invalid_union":
    case "invalid_key":
    case "invalid_element":
    case "custom":
      return issue.message;
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a whole number",
  string: "text",
  object: "an object of keys and values",
  array: "a list",
};

function lengthOf(origin: string): string {
  if (origin === "string") return " characters long";
  return origin === "array" ? " long" : "";
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => {
    if (Array.isArray(at)) return (at as readonly unknown[])[Number(part)];
    return isTree(at) && Object.hasOwn(at, String(part)) ? at[String(part)] : undefined;
  }, tree);
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "keys and values";
  return JSON.stringify(value) ?? "nothing";
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A misspelt variable is silent otherwise. Kubernetes adds CADASTRE_* names of its own. */
function unknownVariables(env: ConfigSources["env"]): readonly string[] {
  const known = [...SETTINGS.map(({ variable }) => variable), ...OTHER_VARIABLES];
  return Object.keys(env)
    .filter((name) => name.startsWith("CADASTRE_") && !known.includes(name))
    .flatMap((name) => {
      const meant = nearMiss(name, known);
      const isClose = meant !== undefined && Math.abs(meant.length - name.length) <= 2;
      return isClose ? [`${name}: unknown variable, ignored; did you mean ${meant}?`] : [];
    });
}

const OTHER_VARIABLES = [
  "CADASTRE_ENDPOINTS",
  "CADASTRE_CONFIG",
  "CADASTRE_DEBUG",
  "CADASTRE_PARENT_IPC",
];
