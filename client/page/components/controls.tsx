// The buttons and form parts that the components of the page and of the operator page share.
import type { ComponentProps, RefObject } from "preact";

import { t } from "../state/language.ts";
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

interface SearchFieldProps extends Pick<
  ComponentProps<"input">,
  "placeholder" | "enterkeyhint" | "aria-invalid" | "autocomplete" | "autocapitalize" | "spellcheck" | "maxLength"
> {
  /** What is looked for: shown while the field is empty, and read aloud. */
  readonly label: string;
  readonly testId: string;
  /** The browser empties a search field on Escape. Give `text` if Escape has to close the part around the field. */
  readonly type?: "search" | "text";
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly field?: RefObject<HTMLInputElement | null>;
}

export function SearchField({ label, testId, type = "search", value, onText, field, ...rest }: SearchFieldProps) {
  return (
    <span class="search-field">
      <Icon name="search" />
      <input
        {...(field && { ref: field })}
        // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- Preact's types know one of the two at a time
        type={type as "search"}
        aria-label={label}
        placeholder={label}
        data-testid={testId}
        value={value}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        {...rest}
      />
      {value !== "" && (
        <IconButton
          icon="close"
          label={t("Clear")}
          tabIndex={-1}
          onClick={({ currentTarget }) => {
            currentTarget.parentElement!.querySelector("input")!.focus();
            onText("");
          }}
        />
      )}
    </span>
  );
}

interface FieldProps extends Pick<
  ComponentProps<"input">,
  "autocomplete" | "autocapitalize" | "dir" | "maxLength" | "placeholder" | "required" | "spellcheck"
> {
  /** Of the element, for its label and for tests. */
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  /** Why the form cannot be sent; empty if it can. */
  readonly problem?: string;
  /** Has the place of a problem while there is none; without a hint there is no place. */
  readonly hint?: string;
  /** Of a text that may be longer than a line. */
  readonly rows?: number;
}

export function Field({ id, label, onText, problem = "", hint, rows, ...rest }: FieldProps) {
  const isWrong = problem !== "";
  const hasHint = hint !== undefined;
  const control = {
    id,
    "data-testid": id,
    "aria-invalid": isWrong,
    "aria-describedby": `${id}-note`,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => onText(currentTarget.value),
    ...rest,
  };
  return (
    <>
      <label for={id}>{label}</label>
      {rows === undefined ? <input {...control} /> : <textarea rows={rows} {...control} />}
      <p
        id={`${id}-note`}
        class={isWrong || !hasHint ? "problem" : "hint"}
        role={isWrong && hasHint ? "alert" : undefined}
        hidden={!isWrong && !hasHint}
      >
        {problem || hint}
      </p>
    </>
  );
}
