// Small parts of the operator page: a figure with its name, the bar of wakes, an error of the API. The views draw them.
import type { ComponentChildren } from "preact";

import type { Problem } from "../state/admin-api.ts";
import type { Use } from "../state/answers.ts";
import { CAUSE_WORDS, countText, rateText, wakeParts, wakesOf } from "../state/figures.ts";

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

/** How much of the wakes each cause has. The same stands in the text beside it or in its name. */
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
