// Small parts of the operator page: buttons, tables, a figure with its name, the bar of wakes, an error of the API. The views draw
// them.
import type { ComponentChildren } from "preact";

import { Button, type ButtonProps } from "../../page/components/controls.tsx";
import type { Problem } from "../state/admin-api.ts";
import type { Use } from "../state/answers.ts";
import { CAUSE_WORDS, countText, rateText, wakeParts, wakesOf } from "../state/figures.ts";

interface EdgedButtonProps extends ButtonProps {
  readonly isGrave?: boolean;
}

export function EdgedButton({ isGrave = false, ...rest }: EdgedButtonProps) {
  return <Button class={isGrave ? "plain edged grave" : "plain edged"} {...rest} />;
}

export interface Column<Item> {
  readonly label: string;
  readonly cell: (item: Item) => ComponentChildren;
  readonly class?: string;
  /** Explains the column. */
  readonly hint?: string;
  /** Says more about one cell. */
  readonly title?: (item: Item) => string | undefined;
  readonly testId?: string;
}

interface TableProps<Item> {
  readonly class?: string;
  readonly items: readonly Item[];
  /** The first one names the row. */
  readonly columns: ReadonlyArray<Column<Item>>;
  /** The attributes of an item's row: its key, and names for tests. */
  readonly row: (item: Item) => { readonly key: string | number; readonly [attribute: string]: unknown };
  /** The buttons of an item, in the last column. */
  readonly actions?: (item: Item) => ComponentChildren;
}

/** A table whose rows are cards on a phone, where each cell shows the label of its column. */
export function Table<Item>({ class: name, items, columns, row, actions }: TableProps<Item>) {
  const [first, ...others] = columns;
  return (
    <div class="table-box">
      <table class={name}>
        <thead>
          <tr>
            {columns.map(({ label, class: kind = "", hint }) => (
              <th key={label} scope="col" class={kind.includes("number") ? "number" : undefined} title={hint}>
                {label}
              </th>
            ))}
            {actions && (
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => {
            const { key, ...attributes } = row(item);
            return (
              <tr key={key} {...attributes}>
                <th scope="row">{first!.cell(item)}</th>
                {others.map(({ label, cell, class: kind, title, testId }) => (
                  <td key={label} class={kind} data-label={label} title={title?.(item)} data-testid={testId}>
                    {cell(item)}
                  </td>
                ))}
                {actions && <td class="actions">{actions(item)}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly testId?: string;
}

export function Figure({ label, value, note, testId }: FigureProps) {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd>
        <strong data-testid={testId}>{value}</strong>
        {note !== undefined && <span class="hint">{note}</span>}
      </dd>
    </div>
  );
}

/** The share of each cause in the wakes. The title says the same in words. */
export function WakeBar({ use }: { readonly use: Pick<Use, "wakes"> }) {
  const parts = wakeParts(use);
  const words = parts.map(({ cause, count }) => `${CAUSE_WORDS[cause]}: ${rateText(count)}`).join(", ");
  return (
    <svg class="wake-bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={words || "No wakes"}>
      <title>{words || "No wakes"}</title>
      {parts.map(({ cause, from, to }) => (
        <rect key={cause} class={`cause-${cause}`} x={from * 100} y="0" width={(to - from) * 100} height="6" />
      ))}
    </svg>
  );
}

export function WakeTable({ use }: { readonly use: Use }) {
  const sum = wakesOf(use);
  return (
    <div class="wakes">
      <WakeBar use={use} />
      <ul data-testid="wakes">
        {wakeParts(use).map(({ cause, count }) => (
          <li key={cause} data-cause={cause}>
            <span class={`swatch cause-${cause}`} />
            <span>{CAUSE_WORDS[cause]}</span>
            <span class="number">{countText(count)}</span>
            <span class="number muted">{Math.round((100 * count) / sum)} %</span>
          </li>
        ))}
        {sum === 0 && <li class="muted">None reported so far</li>}
      </ul>
    </div>
  );
}

export function ProblemLine({ problem }: { readonly problem: Problem | undefined }) {
  return problem ? (
    <p class="trouble" role="alert" data-testid="problem">
      <strong>{problem.code}</strong> {problem.message}
    </p>
  ) : null;
}
