// Counts the work of a function that reads text, without a clock: how often regular expressions were asked while it ran.
import { vi } from "vitest";

function stepsOf(run: () => void): number {
  const asked = vi.spyOn(RegExp.prototype, "exec");
  try {
    run();
    return asked.mock.calls.length;
  } finally {
    asked.mockRestore();
  }
}

/** Whether four times the text takes about four times the steps. */
export function growsWithText(unit: string, read: (text: string) => void): boolean {
  const steps = (length: number): number => stepsOf(() => read(unit.repeat(Math.ceil(length / unit.length))));
  return steps(32_000) < 5 * steps(8000) + 1000;
}
