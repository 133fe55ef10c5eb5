// The buttons and form parts that the components of the page and of the operator page share.
import type { ComponentProps } from "preact";

import { Icon, type IconName } from "./icons.tsx";

/** For names and tokens: the browser neither completes, capitalises nor corrects the text. */
export const VERBATIM = { autocomplete: "off", autocapitalize: "none", spellcheck: false } as const;

/** Handles a form's submission in the page, so that the browser does not load another one. */
export const submitting =
  (act: () => unknown) =>
  (event: Event): void => {
    event.preventDefault();
    act();
  };

export interface ButtonProps extends Omit<ComponentProps<"button">, "class" | "label"> {
  readonly class?: string;
  readonly testId?: string;
}

/** A button with a text; without a class it looks like a link. */
export function Button({ class: look = "link", testId, ...rest }: ButtonProps) {
  return <button type="button" class={look} data-testid={testId} {...rest} />;
}

interface IconButtonProps extends ButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly pressed?: boolean;
}

/** A button whose name is read aloud and shown as a tooltip. */
export function IconButton({ icon, label, pressed, class: extra = "", children, ...rest }: IconButtonProps) {
  return (
    <Button class={`icon-button ${extra}`} aria-label={label} title={label} aria-pressed={pressed} {...rest}>
      <Icon name={icon} />
      {children}
    </Button>
  );
}
