// The field that messages are written in: Enter sends, Shift+Enter starts a line.
import { element } from "./elements.ts";

/** From so few characters left on, the reader is told. */
const WARN_LEFT = 100;
const ROWS_MAX = 6;

export class Composer {
  readonly #draft = element("draft", HTMLTextAreaElement);
  readonly #send = element("send", HTMLButtonElement);
  readonly #problem = element("draft-problem", HTMLParagraphElement);
  readonly #post: (content: string) => void;
  #contentMax = Infinity;
  /** Why nothing can be posted now; empty when it can. */
  #blocked = "";

  constructor(post: (content: string) => void) {
    this.#post = post;
    element("composer", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#draft.addEventListener("input", () => this.#update());
    this.#draft.addEventListener("keydown", (event) => {
      // While a word is being composed (Chinese, Japanese …), Enter belongs to the input method.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
  }

  render({ contentMax, blocked }: { readonly contentMax: number; readonly blocked: string }): void {
    if (this.#contentMax === contentMax && this.#blocked === blocked) return;
    this.#contentMax = contentMax;
    this.#blocked = blocked;
    this.#update();
  }

  focus(): void {
    this.#draft.focus();
  }

  clear(): void {
    this.#draft.value = "";
    this.#update();
  }

  #submit(): void {
    const content = this.#draft.value.trim();
    if (content === "" || this.#left < 0 || this.#blocked !== "") return;
    this.clear();
    this.#draft.focus();
    this.#post(content);
  }

  #update(): void {
    const left = this.#left;
    this.#draft.rows = Math.min(ROWS_MAX, this.#draft.value.split("\n").length);
    this.#draft.setAttribute("aria-invalid", String(left < 0));
    this.#send.disabled = this.#blocked !== "" || left < 0;
    this.#problem.textContent = this.#blocked || remaining(left);
    this.#problem.classList.toggle("over", left < 0);
  }

  get #left(): number {
    // The room counts code points: an emoji is one.
    return this.#contentMax - Array.from(this.#draft.value.trim()).length;
  }
}

function remaining(left: number): string {
  if (left > WARN_LEFT) return "";
  return left < 0 ? `${-left} characters too many` : `${left} characters left`;
}
