// A random number generator with a seed, for repeatable runs. Called by the crash test and the fuzzer.

/** xorshift32. @returns from 0 to below 1 */
export function seededRandom(seed: number): () => number {
  // Zero would stay zero; the golden ratio keeps neighbouring seeds apart.
  let state = Math.imul(seed + 1, 0x9e3779b9) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
