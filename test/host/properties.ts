// Sets fast-check up: every run tries the same inputs, and a failure prints its seed and the shortest input that fails. Imported by
// all tests of properties. `SEED=7 RUNS=10000 npm test -- test/chat/sleep-property` tries other inputs.
import fc, { configureGlobal, nat } from "fast-check";

const { SEED, RUNS, LONG } = process.env;

/** Whether campaigns run at their full length: `npm test -- --long`. */
export const IS_LONG = LONG !== undefined;

configureGlobal({ seed: Number(SEED ?? 20_261_121), ...(RUNS && { numRuns: Number(RUNS) }) });

/** @param count tries of the long form; the short one makes a quarter of them, so that the tests stay quick */
export const runs = (count: number): { numRuns: number } => ({
  numRuns: Number(RUNS ?? (IS_LONG ? count : Math.ceil(count / 4))),
});

const SURROGATES = 0xe000 - 0xd800;

const characterAt = (place: number): string => String.fromCodePoint(place < 0xd800 ? place : place + SURROGATES);

/**
 * A unit of `fc.string`: any character but half a surrogate pair, as "binary" of fast-check, for which it keeps a map of all of them. By the
 * way back fast-check mixes in texts as `__proto__`.
 */
export const anyCharacter = nat(0x10ffff - SURROGATES).map(characterAt, (character) => {
  const code = typeof character === "string" ? (character.codePointAt(0) ?? 0) : 0;
  const place = code < 0xd800 ? code : code - SURROGATES;
  if (characterAt(place) !== character) throw new Error("no character");
  return place;
});

export { fc };
