// The tag of the next migration. Called by plan.ts.

/** Counts the last tag on, `v3` after `v2` and `0010` after `0009`; a tag that ends in no number gets one of Parley's own behind it. */
export function nextTag(tags: readonly string[]): string {
  if (tags.length === 0) return "v1";
  const [, beginning, digits] = /^(.*?)(\d{1,9})$/.exec(tags.at(-1)!) ?? [];
  for (let count = digits === undefined ? 1 : Number(digits) + 1; ; count++) {
    const tag = digits === undefined ? `parley-v${count}` : `${beginning}${String(count).padStart(digits.length, "0")}`;
    if (!tags.includes(tag)) return tag;
  }
}
