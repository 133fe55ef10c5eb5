// Reads Prometheus text as strictly as Prometheus does: an unknown line is an error. Called by tests of metrics.

export interface Exposition {
  /** @returns `undefined` where there is no such sample */
  valueOf(family: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** The values of one label, in the order of their samples. */
  labelsOf(family: string, label: string): string[];
  readonly families: ReadonlySet<string>;
}

const SAMPLE = /^([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (-?[\d.e+-]+|\+Inf|NaN)$/;
const META = /^# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.+)$/;

/** @throws Error for a line that is none, a sample without a TYPE, or one that stands there twice */
export function expositionOf(text: string): Exposition {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const samples = new Map<string, { family: string; labels: Record<string, string>; value: number }>();
  const types = new Map<string, string>();
  for (const line of text.trimEnd().split("\n")) {
    const [, kind, name, rest] = META.exec(line) ?? [];
    if (kind === "TYPE") {
      if (types.has(name!)) throw new Error(`twice: ${line}`);
      types.set(name!, rest!);
    }
    if (kind) continue;
    const [, family, labelText = "", value] = SAMPLE.exec(line) ?? [];
    if (family === undefined) throw new Error(`no sample: ${line}`);
    if (!types.has(family) && !types.has(family.replace(/_(bucket|sum|count)$/, "")))
      throw new Error(`untyped: ${line}`);
    const labels = Object.fromEntries(
      [...labelText.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, given]) => [label!, given!]),
    );
    const key = `${family}${JSON.stringify(labels)}`;
    if (samples.has(key)) throw new Error(`twice: ${line}`);
    samples.set(key, { family, labels, value: Number(value) });
  }
  const all = [...samples.values()];
  return {
    valueOf: (family, labels = {}) => samples.get(`${family}${JSON.stringify(labels)}`)?.value,
    labelsOf: (family, label) => all.filter((sample) => sample.family === family).map(({ labels }) => labels[label]!),
    families: new Set(types.keys()),
  };
}
