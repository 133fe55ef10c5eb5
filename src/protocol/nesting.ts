// Bounds how deep JSON nests. Checking and writing it recurse, and would run out of stack. Called by readers of bodies and events.

/** Levels of lists and objects in a body. */
export const JSON_LEVELS_MAX = 100;

/** @param value as `JSON.parse` gives it */
export function isTooDeep(value: unknown, levelsMax = JSON_LEVELS_MAX): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levelsMax) return true;
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return false;
}
