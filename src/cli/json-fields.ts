// Reading JSON that another process wrote: fields by name and type, undefined for all else, so
// that a file or an answer of another version is refused by its reader and never trusted.

export function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

export function textOf(value: unknown, key: string): string | undefined {
  const field = fieldOf(value, key);
  return typeof field === "string" ? field : undefined;
}

export function numberOf(value: unknown, key: string): number | undefined {
  const field = fieldOf(value, key);
  return typeof field === "number" ? field : undefined;
}

/** Undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
