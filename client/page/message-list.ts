// Draws the timeline and keeps the reader's place in it: at the newest message while they follow,
// otherwise at the message they are reading, whatever is added above or below.
import type { Message } from "../../src/protocol/chat-events.ts";
import type { Attachment } from "../../src/protocol/files-events.ts";
import { element, make } from "./elements.ts";
import type { Outgoing, Timeline } from "./timeline.ts";

/** So near to the end, in pixels, a reader counts as following. */
const FOLLOWING_SLACK_PX = 48;

export interface MessageActions {
  readonly retry: (clientMsgId: string) => void;
  readonly discard: (clientMsgId: string) => void;
  readonly loadEarlier: () => void;
  readonly save: (attachment: Attachment) => void;
  readonly followingChanged: (following: boolean) => void;
}

interface Drawn {
  /** What the element shows; the timeline replaces what changes, so identity tells whether it is still true. */
  readonly source: Message | Outgoing;
  readonly element: HTMLLIElement;
}

interface Anchor {
  readonly element: HTMLElement;
  readonly top: number;
}

export class MessageList {
  readonly #log = element("log", HTMLDivElement);
  readonly #list = element("messages", HTMLOListElement);
  readonly #earlier = element("earlier", HTMLButtonElement);
  readonly #empty = element("empty", HTMLParagraphElement);
  readonly #newest = element("newest", HTMLButtonElement);
  readonly #drawn = new Map<string, Drawn>();
  readonly #actions: MessageActions;
  #following = true;
  /** The newest message that was in view. */
  #seenSeq = 0;

  constructor(actions: MessageActions) {
    this.#actions = actions;
    this.#earlier.addEventListener("click", actions.loadEarlier);
    this.#newest.addEventListener("click", () => this.follow());
    this.#log.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    // A keyboard on a phone, or a growing composer, takes room from the log.
    new ResizeObserver(() => this.#following && this.#toEnd()).observe(this.#log);
  }

  render(
    timeline: Timeline,
    self: string,
    state: { readonly loaded: boolean; readonly loadingEarlier: boolean },
  ): void {
    const anchor = this.#following ? undefined : this.#anchor();
    this.#renderEarlier(timeline.hasEarlier, state.loadingEarlier);
    this.#renderItems(timeline, self);
    this.#empty.hidden = !state.loaded || timeline.hasEarlier || this.#drawn.size > 0;
    if (anchor) this.#log.scrollTop += anchor.element.offsetTop - anchor.top;
    else this.#toEnd();
    const newestSeq = timeline.messages.at(-1)?.seq ?? 0;
    if (this.#following) this.#seenSeq = newestSeq;
    this.#newest.hidden = this.#following || newestSeq <= this.#seenSeq;
  }

  /** Goes to the newest message and stays with it. */
  follow(): void {
    this.#setFollowing(true);
    this.#newest.hidden = true;
    this.#toEnd();
  }

  clear(): void {
    this.#drawn.clear();
    this.#list.replaceChildren();
    this.#seenSeq = 0;
    this.follow();
  }

  #renderEarlier(hasEarlier: boolean, loading: boolean): void {
    // A focus must not fall off the page with the button.
    if (!hasEarlier && document.activeElement === this.#earlier) this.#log.focus({ preventScroll: true });
    this.#earlier.hidden = !hasEarlier;
    this.#earlier.setAttribute("aria-disabled", String(loading));
    this.#earlier.textContent = loading ? "Loading…" : "Load earlier messages";
  }

  #renderItems(timeline: Timeline, self: string): void {
    const wanted = new Map<string, HTMLLIElement>();
    for (const message of timeline.messages) {
      const key = String(message.seq);
      wanted.set(
        key,
        this.#draw(key, message, () => drawMessage(message, message.sender === self, this.#actions)),
      );
    }
    for (const outgoing of timeline.outgoing) {
      const key = `outgoing ${outgoing.clientMsgId}`;
      wanted.set(
        key,
        this.#draw(key, outgoing, () => drawOutgoing(outgoing, this.#actions)),
      );
    }
    for (const [key, drawn] of this.#drawn) {
      if (wanted.get(key) === drawn.element) continue;
      drawn.element.remove();
      this.#drawn.delete(key);
    }
    this.#place(wanted.values());
  }

  #draw(key: string, source: Message | Outgoing, draw: () => HTMLLIElement): HTMLLIElement {
    const known = this.#drawn.get(key);
    if (known?.source === source) return known.element;
    known?.element.remove();
    const made = { source, element: draw() };
    this.#drawn.set(key, made);
    return made.element;
  }

  /** Touches only what is not yet where it belongs. */
  #place(elements: Iterable<HTMLLIElement>): void {
    let next = this.#list.firstElementChild;
    for (const wanted of elements) {
      if (wanted === next) next = next.nextElementSibling;
      else this.#list.insertBefore(wanted, next);
    }
  }

  /** The first message in view and where it stands. */
  #anchor(): Anchor | undefined {
    const top = this.#log.scrollTop;
    for (const child of this.#list.children) {
      if (child instanceof HTMLElement && child.offsetTop + child.offsetHeight > top) {
        return { element: child, top: child.offsetTop };
      }
    }
    return undefined;
  }

  #onScroll(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.#log;
    this.#setFollowing(scrollHeight - scrollTop - clientHeight < FOLLOWING_SLACK_PX);
    if (this.#following) this.#newest.hidden = true;
  }

  #setFollowing(following: boolean): void {
    if (this.#following === following) return;
    this.#following = following;
    this.#actions.followingChanged(following);
  }

  #toEnd(): void {
    this.#log.scrollTop = this.#log.scrollHeight;
  }
}

function drawMessage(message: Message, own: boolean, actions: MessageActions): HTMLLIElement {
  const time = make("time", "time", formatTime(message.timestamp));
  time.dateTime = new Date(message.timestamp).toISOString();
  time.title = new Date(message.timestamp).toLocaleString();
  const item = drawItem(own ? "You" : message.name, time, message.deleted ? "Message deleted" : message.content);
  item.classList.toggle("own", own);
  item.dataset["state"] = "sent";
  item.dataset["seq"] = String(message.seq);
  if (message.attachment) item.append(drawAttachment(message.attachment, actions));
  return item;
}

function drawOutgoing({ clientMsgId, content, failure }: Outgoing, actions: MessageActions): HTMLLIElement {
  const item = drawItem("You", make("span", "time", failure === null ? "Sending…" : "Not sent"), content);
  item.classList.add("own");
  item.dataset["state"] = failure === null ? "pending" : "failed";
  if (failure !== null) {
    const row = make("div", "failure");
    row.append(
      make("span", "", failure),
      button("Retry", "retry", () => actions.retry(clientMsgId)),
      button("Discard", "discard", () => actions.discard(clientMsgId)),
    );
    item.append(row);
  }
  return item;
}

function drawItem(author: string, time: HTMLElement, content: string): HTMLLIElement {
  const item = make("li", "message");
  item.dataset["testid"] = "message";
  const head = make("div", "message-head");
  // A name or a text written from right to left must not turn its neighbours around.
  head.append(make("bdi", "author", author), " ", time);
  const body = make("div", "content", content);
  body.dir = "auto";
  item.append(head, body);
  return item;
}

function drawAttachment(attachment: Attachment, actions: MessageActions): HTMLElement {
  const made = button(attachment.name, "attachment", () => actions.save(attachment));
  made.title = `${attachment.type}, ${attachment.size} bytes`;
  made.dir = "auto";
  return made;
}

function button(text: string, testId: string, onClick: () => void): HTMLButtonElement {
  const made = make("button", "link", text);
  made.type = "button";
  made.dataset["testid"] = testId;
  made.addEventListener("click", onClick);
  return made;
}

const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

function formatTime(timestamp: number): string {
  const isToday = new Date(timestamp).toDateString() === new Date().toDateString();
  return (isToday ? timeOfDay : dayAndTime).format(timestamp);
}
