// Counts the work of a function that reads text, without a clock: how often regular expressions were asked while it ran.

type Exec = (this: RegExp, text: string) => RegExpExecArray | null;

/** Without a spy of vitest, which would keep each text. */
function stepsOf(run: () => void): number {
  const exec: Exec = Reflect.get(RegExp.prototype, "exec");
  let steps = 0;
  const counted: Exec = function (text) {
    steps++;
    return exec.call(this, text);
  };
  Object.assign(RegExp.prototype, { exec: counted });
  try {
    run();
    return steps;
  } finally {
    Object.assign(RegExp.prototype, { exec });
  }
}

/** Whether four times the text takes about four times the steps. */
export function growsWithText(unit: string, read: (text: string) => void): boolean {
  const steps = (length: number): number => stepsOf(() => read(unit.repeat(Math.ceil(length / unit.length))));
  return steps(32_000) < 5 * steps(8000) + 1000;
}
