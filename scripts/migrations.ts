// The classes of Durable Objects that a Worker's migrations make. Called by create-parley and by the doctor.

export interface Migration {
  readonly tag?: string;
  readonly new_classes?: readonly string[];
  readonly new_sqlite_classes?: readonly string[];
  readonly renamed_classes?: ReadonlyArray<{ readonly from: string; readonly to: string }>;
  readonly transferred_classes?: ReadonlyArray<{ readonly to: string }>;
  readonly deleted_classes?: readonly string[];
}

/** `elsewhere`: another Worker's migrations made it. */
export type ClassStorage = "sqlite" | "key-value" | "elsewhere";

/** The classes that are there after all migrations, by name. */
export function classesMadeBy(migrations: readonly Migration[]): Map<string, ClassStorage> {
  const made = new Map<string, ClassStorage>();
  for (const step of migrations) {
    for (const name of step.new_classes ?? []) made.set(name, "key-value");
    for (const name of step.new_sqlite_classes ?? []) made.set(name, "sqlite");
    for (const { to } of step.transferred_classes ?? []) made.set(to, "elsewhere");
    for (const { from, to } of step.renamed_classes ?? []) {
      made.set(to, made.get(from) ?? "elsewhere");
      made.delete(from);
    }
    for (const name of step.deleted_classes ?? []) made.delete(name);
  }
  return made;
}
