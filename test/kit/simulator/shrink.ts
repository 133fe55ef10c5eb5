// Shrinks a plan that breaks an invariant: leaves out each part without which the plan still breaks it.

/** Runs that one shrinking may take. */
const RUNS_MAX = 200;

/** The names of those parts of a plan that are lists. */
export type ListsOf<Plan> = {
  readonly [Name in keyof Plan]: Plan[Name] extends readonly unknown[] ? Name : never;
}[keyof Plan];

/**
 * @param lists those of the plan, from which parts may be left out
 * @param breaks runs a plan, and says whether it breaks the invariant
 */
export async function shrink<Plan extends object>(
  plan: Plan,
  lists: ReadonlyArray<ListsOf<Plan>>,
  breaks: (plan: Plan) => Promise<boolean>,
): Promise<{ plan: Plan; runs: number }> {
  let smallest = plan;
  let runs = 0;
  const stillBreaks = async (candidate: Plan): Promise<boolean> => {
    if (runs >= RUNS_MAX) return false;
    runs++;
    return breaks(candidate);
  };
  const partsOf = (list: ListsOf<Plan>): readonly unknown[] => smallest[list] as readonly unknown[];
  const size = (): number => lists.reduce((sum, list) => sum + partsOf(list).length, 0);
  /** Leaves out halves, then quarters, … of one list. */
  const shorten = async (list: ListsOf<Plan>): Promise<void> => {
    for (let count = Math.ceil(partsOf(list).length / 2); count >= 1; count = count === 1 ? 0 : Math.ceil(count / 2)) {
      for (let from = 0; from < partsOf(list).length;) {
        const left = partsOf(list).filter((_, at) => at < from || at >= from + count);
        const candidate = { ...smallest, [list]: left };
        if (await stillBreaks(candidate)) smallest = candidate;
        else from += count;
      }
    }
  };
  for (;;) {
    const before = size();
    for (const list of lists) await shorten(list);
    if (size() === before || runs >= RUNS_MAX) return { plan: smallest, runs };
  }
}
