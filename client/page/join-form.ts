// The form that a visitor fills in first: name, room and, where guests are not admitted, a token.
import { DEFAULT_ROOM, isRoomName } from "../../src/protocol/room-name.ts";
import { element } from "./elements.ts";
import { keep, readKept } from "./kept.ts";

const KEY = "parley.join";
const local = (): Storage => localStorage;

export interface Joining {
  readonly name: string;
  readonly room: string;
  /** Empty unless the visitor was asked for one. */
  readonly token: string;
}

type Field = HTMLInputElement | HTMLTextAreaElement;

export class JoinForm {
  readonly #view = element("join", HTMLElement);
  readonly #name = element("name", HTMLInputElement);
  readonly #room = element("room", HTMLInputElement);
  readonly #token = element("token", HTMLTextAreaElement);
  readonly #tokenField = element("token-field", HTMLDivElement);
  readonly #problem = element("join-problem", HTMLParagraphElement);
  readonly #button = element("join-button", HTMLButtonElement);

  constructor(join: (joining: Joining) => void) {
    const kept = readKept(local, KEY) as { name?: unknown; room?: unknown } | undefined;
    if (typeof kept?.name === "string") this.#name.value = kept.name;
    this.#room.value = typeof kept?.room === "string" ? kept.room : DEFAULT_ROOM;
    element("join-form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      const joining = this.#read();
      if (!joining || this.#button.disabled) return;
      keep(local, KEY, { name: joining.name, room: joining.room });
      join(joining);
    });
  }

  setRoom(room: string): void {
    this.#room.value = room;
  }

  show(problem = ""): void {
    this.#view.hidden = false;
    this.#problem.textContent = problem;
    (this.#name.value === "" ? this.#name : this.#button).focus();
  }

  hide(): void {
    this.#view.hidden = true;
    this.#problem.textContent = "";
    this.#token.value = "";
    this.#tokenField.hidden = true;
  }

  askForToken(reason: string): void {
    this.show(reason);
    this.#tokenField.hidden = false;
    this.#token.focus();
  }

  setBusy(busy: boolean): void {
    this.#button.disabled = busy;
    this.#button.textContent = busy ? "Joining…" : "Join";
    if (busy) this.#problem.textContent = "";
  }

  /** `undefined` when something is wrong; then the first wrong field has the focus. */
  #read(): Joining | undefined {
    const joining = { name: this.#name.value.trim(), room: this.#room.value.trim(), token: this.#token.value.trim() };
    const wrong = [
      mark(this.#name, joining.name === "" ? "Enter a name." : ""),
      mark(this.#room, isRoomName(joining.room) ? "" : "This is not a room name."),
      mark(this.#token, !this.#tokenField.hidden && joining.token === "" ? "Paste a token." : ""),
    ].find((field) => field !== undefined);
    wrong?.focus();
    return wrong ? undefined : joining;
  }
}

/** Shows the problem beside its field; returns the field if there is one. */
function mark(field: Field, problem: string): Field | undefined {
  const text = element(`${field.id}-problem`, HTMLParagraphElement);
  text.textContent = problem;
  text.hidden = problem === "";
  field.setAttribute("aria-invalid", String(problem !== ""));
  return problem === "" ? undefined : field;
}
