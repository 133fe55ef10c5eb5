// Checks of options that a developer gives in code. Called by `connect` and by the options of Durable Objects.

const TRANSPORTS = ["websocket", "polling"] as const;

export type Transport = (typeof TRANSPORTS)[number];

/** @throws Error that names the option where it is no such list */
export function readTransports(name: string, given: readonly Transport[] = TRANSPORTS): readonly Transport[] {
  if (Array.isArray(given) && given.length > 0 && given.every((transport) => TRANSPORTS.includes(transport)))
    return given;
  throw new Error(`${name}: must list polling, websocket or both`);
}

/** @throws Error that names the first option which is not among `names` */
export function refuseUnknown(where: string, given: object, names: readonly string[]): void {
  for (const name of Object.keys(given))
    if (!names.includes(name)) throw new Error(`${where}: there is no option "${name}"; there are ${names.join(", ")}`);
}

/** @throws Error that names the value where it is not such a number */
export function wholeNumber(name: string, value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw new Error(`${name}: must be a whole number from ${min} to ${max}, not ${String(value)}`);
}
