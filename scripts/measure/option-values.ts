// Values out of a command line: in their bounds, or an error that names them. Called by all modes.

export type Values = Readonly<Record<string, string | boolean | undefined>>;

/** @throws Error with the option's allowed values */
export function number(values: Values, name: string, usual: number, min: number, max: number): number {
  const text = values[name];
  if (text === undefined) return usual;
  const value = Number(text);
  if (text === "" || !Number.isFinite(value) || value < min || value > max)
    throw new Error(`--${name} must be a number from ${min} to ${max}, not "${String(text)}".`);
  return value;
}

/** @throws Error with the option's allowed values */
export function whole(values: Values, name: string, usual: number, min: number, max: number): number {
  const value = number(values, name, usual, min, max);
  if (!Number.isInteger(value))
    throw new Error(`--${name} must be a whole number from ${min} to ${max}, not ${value}.`);
  return value;
}

/** Nothing chosen means everything. @throws Error with the names that there are */
export function choose(kind: string, chosen: readonly string[], all: readonly string[]): readonly string[] {
  const odd = chosen.find((name) => !all.includes(name));
  if (odd !== undefined) throw new Error(`There is no ${kind} "${odd}"; there are ${all.join(", ")}.`);
  return chosen.length === 0 ? all : all.filter((name) => chosen.includes(name));
}
