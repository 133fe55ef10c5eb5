// Makes a text that differs if plain data (structured clone) differs. JSON alone would write a Map as `{}` and fail on a bigint. Called by
// those who write a row only if it has changed.

/** @returns `undefined` for data without a fingerprint, such as data that refers to itself */
export function fingerprint(data: unknown): string | undefined {
  try {
    return JSON.stringify(data, describe);
  } catch {
    return undefined;
  }
}

/** A replacer of `JSON.stringify`: `this` holds the value as it was before `toJSON`. */
function describe(this: unknown, key: string): unknown {
  const value = (this as Record<string, unknown>)[key];
  if (typeof value === "object" && value !== null) return describeObject(value);
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  return describeNumber(value as number | bigint | undefined);
}

/** JSON writes some numbers as null or 0, and cannot write bigints and undefined. */
function describeNumber(value: number | bigint | undefined): unknown {
  if (Object.is(value, -0)) return { number: "-0" };
  return Number.isFinite(value) ? value : { [typeof value]: String(value) };
}

function describeObject(value: object): unknown {
  if (value instanceof Map) return { Map: [...value] };
  if (value instanceof Set) return { Set: [...value] };
  if (Object.prototype.toString.call(value) === "[object Date]") return { Date: Number(value) };
  if (value instanceof RegExp) return { RegExp: String(value) };
  if (value instanceof Error) return { Error: [value.name, value.message] };
  if (value instanceof ArrayBuffer) return { ArrayBuffer: [...new Uint8Array(value)] };
  if (!ArrayBuffer.isView(value)) return value;
  const { buffer, byteOffset, byteLength } = value;
  return { [value.constructor.name]: [...new Uint8Array(buffer, byteOffset, byteLength)] };
}
