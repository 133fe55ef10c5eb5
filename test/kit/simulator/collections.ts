// Lists the collections that an object reaches by properties: each list, map, set and record, by class and property, with the
// largest size. Closures cannot be inspected.

/** The prefix that `bundle.ts` gives to private fields. */
const PRIVATE = /^\$\w+?\$/;

type IsForeign = (value: object, key: string) => boolean;

interface Part {
  /** Of the property, where it is one. */
  readonly key: string;
  readonly name: string;
  readonly value: object;
}

type Reach = (value: unknown, name: string, key?: string) => void;

/** @param isForeign objects to skip: they belong to the platform, or all rooms share them */
export function collectionsIn(root: object, isForeign: IsForeign): Map<string, number> {
  const largest = new Map<string, number>();
  const seen = new Set<object>();
  const ahead: Part[] = [];
  const reach: Reach = (value, name, key = "") => {
    if (isObject(value)) ahead.push({ key, name, value });
  };
  reach(root, "");
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    const { key, name, value } = next;
    if (seen.has(value) || isForeign(value, key)) continue;
    seen.add(value);
    const size = lookInto(value, name, reach);
    if (size !== undefined) largest.set(name, Math.max(size, largest.get(name) ?? 0));
  }
  return largest;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** @returns the size; nothing for an object that is no collection */
function lookInto(value: object, name: string, reach: Reach): number | undefined {
  const inside = `${name}[]`;
  if (value instanceof Map) {
    for (const [key, part] of value) {
      reach(key, inside);
      reach(part, inside);
    }
    return value.size;
  }
  if (value instanceof Set || Array.isArray(value)) {
    for (const part of value) reach(part, inside);
    return Array.isArray(value) ? value.length : value.size;
  }
  if (ArrayBuffer.isView(value)) return undefined;
  const owner = classOf(value);
  const entries = Object.entries(value);
  // Names are for objects alone: most of what is there are texts and numbers.
  for (const [key, part] of entries)
    if (isObject(part)) reach(part, owner === undefined ? name : `${owner}.${key.replace(PRIVATE, "")}`, key);
  return owner === undefined ? entries.length : undefined;
}

/** @returns nothing for plain data */
function classOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype ? undefined : value.constructor.name;
}
