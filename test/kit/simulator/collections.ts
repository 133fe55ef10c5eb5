// Lists the collections that an object reaches by properties: each list, map, set and record, by class and property, with the
// largest size. Closures cannot be inspected.

/** The prefix that `bundle.ts` gives to private fields. */
const PRIVATE = /^\$\w+?\$/;

type IsForeign = (value: object, key: string) => boolean;

interface Part {
  /** Of the property, where it is one. */
  readonly key: string;
  readonly name: string;
  readonly value: unknown;
}

interface Look {
  /** Nothing for an object that is no collection. */
  readonly size?: number;
  readonly parts: readonly Part[];
}

/** @param isForeign objects to skip: they belong to the platform, or all rooms share them */
export function collectionsIn(root: object, isForeign: IsForeign): Map<string, number> {
  const largest = new Map<string, number>();
  const seen = new Set<unknown>();
  const ahead: Part[] = [{ key: "", name: "", value: root }];
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    const { key, name, value } = next;
    if (typeof value !== "object" || value === null || seen.has(value) || isForeign(value, key)) continue;
    seen.add(value);
    const { size, parts } = lookInto(value, name);
    if (size !== undefined) largest.set(name, Math.max(size, largest.get(name) ?? 0));
    ahead.push(...parts);
  }
  return largest;
}

function lookInto(value: object, name: string): Look {
  const inside = (part: unknown): Part => ({ key: "", name: `${name}[]`, value: part });
  if (value instanceof Map) return { size: value.size, parts: [...value].flat().map(inside) };
  if (value instanceof Set) return { size: value.size, parts: [...value].map(inside) };
  if (Array.isArray(value)) return { size: value.length, parts: value.map(inside) };
  if (ArrayBuffer.isView(value)) return { parts: [] };
  const owner = classOf(value);
  const nameOf = (key: string): string => (owner === undefined ? name : `${owner}.${key.replace(PRIVATE, "")}`);
  const parts = Object.entries(value).map(([key, part]): Part => ({ key, name: nameOf(key), value: part }));
  return owner === undefined ? { size: parts.length, parts } : { parts };
}

/** @returns nothing for plain data */
function classOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype ? undefined : value.constructor.name;
}
