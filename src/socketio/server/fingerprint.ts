// A text that differs wherever plain data differs: all that a structured clone carries is in it, where JSON
// alone would take a Map for `{}` and trip over a bigint.

/** @returns `undefined` for data that has none, as data that refers to itself */
export function fingerprint(data: unknown): string | undefined {
  try {
    return JSON.stringify(data, tell);
  } catch {
    return undefined;
  }
}

/** As JSON wants it: `this` holds the value as it was before `toJSON`. */
function tell(this: unknown, key: string): unknown {
  const value = (this as Record<string, unknown>)[key];
  if (typeof value === "object" && value !== null) return tellObject(value);
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  return tellNumber(value as number | bigint | undefined);
}

/** Some numbers are null or zero to JSON; bigints and the absence of a value are nothing to it. */
function tellNumber(value: number | bigint | undefined): unknown {
  if (Object.is(value, -0)) return { number: "-0" };
  return Number.isFinite(value) ? value : { [typeof value]: String(value) };
}

function tellObject(value: object): unknown {
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
