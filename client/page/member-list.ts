// Draws who is in the room, and how many.
import { element, make } from "./elements.ts";
import type { Person, Roster } from "./roster.ts";

/** A list longer than this helps nobody. */
const SHOWN_MAX = 200;
/** From this width on the list has room beside the messages. */
const WIDE = "(min-width: 48rem)";

export class MemberList {
  readonly #panel = element("members-panel", HTMLElement);
  readonly #toggle = element("members-toggle", HTMLButtonElement);
  readonly #count = element("member-count", HTMLSpanElement);
  readonly #word = element("member-word", HTMLSpanElement);
  readonly #list = element("members", HTMLUListElement);
  #drawn = "";

  constructor() {
    this.#toggle.addEventListener("click", () => this.#open(this.#panel.hidden !== false));
    const wide = matchMedia(WIDE);
    this.#open(wide.matches);
    wide.addEventListener("change", () => this.#open(wide.matches));
  }

  render(roster: Roster, self: string): void {
    const { count, people } = roster;
    // Most changes to the page are messages; the list is drawn again only when it differs.
    const drawn = JSON.stringify([count, people, self]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#count.textContent = String(count);
    this.#word.textContent = count === 1 ? "member" : "members";
    this.#list.replaceChildren(...people.slice(0, SHOWN_MAX).map((person) => drawPerson(person, person.user === self)));
    const more = count - Math.min(people.length, SHOWN_MAX);
    if (more > 0 && people.length > 0) this.#list.append(make("li", "muted", `and ${more} more`));
  }

  #open(open: boolean): void {
    this.#panel.hidden = !open;
    this.#toggle.setAttribute("aria-expanded", String(open));
  }
}

function drawPerson({ user, name }: Person, own: boolean): HTMLLIElement {
  const item = make("li", "member");
  item.dataset["testid"] = "member";
  item.title = user;
  item.append(make("bdi", "", name));
  if (own) item.append(make("span", "muted", " (you)"));
  return item;
}
