// Draws a visit: the room's name, the connection, notices, messages, members and the composer.
// The page shows it on joining and hides it on leaving.
import { Composer } from "./composer.ts";
import { ConnectionLine } from "./connection-line.ts";
import { element, make } from "./elements.ts";
import { MemberList } from "./member-list.ts";
import { MessageList, type MessageActions } from "./message-list.ts";
import type { Visit } from "./visit.ts";

/** What a screen reader has not read by then is old. */
const ANNOUNCEMENTS_MAX = 5;

interface ChatActions extends MessageActions {
  readonly post: (content: string) => void;
  readonly dismissNotice: () => void;
  readonly reconnect: () => void;
  readonly leave: () => void;
}

export class ChatView {
  readonly #view = element("chat", HTMLDivElement);
  readonly #title = element("room-title", HTMLHeadingElement);
  readonly #notice = element("notice", HTMLDivElement);
  readonly #noticeText = element("notice-text", HTMLParagraphElement);
  readonly #announcements = element("announcements", HTMLDivElement);
  readonly #messages: MessageList;
  readonly #members = new MemberList();
  readonly #connection: ConnectionLine;
  readonly #composer: Composer;

  constructor(actions: ChatActions) {
    // What the reader sends or sends again, they want to see; and the button they pressed is gone.
    const own =
      <Args extends unknown[]>(act: (...args: Args) => void) =>
      (...args: Args): void => {
        act(...args);
        this.#messages.follow();
        this.#composer.focus();
      };
    this.#messages = new MessageList({ ...actions, retry: own(actions.retry), discard: own(actions.discard) });
    this.#composer = new Composer(own(actions.post));
    this.#connection = new ConnectionLine(own(actions.reconnect));
    element("leave", HTMLButtonElement).addEventListener("click", actions.leave);
    element("notice-dismiss", HTMLButtonElement).addEventListener("click", own(actions.dismissNotice));
  }

  show(visit: Visit): void {
    this.#view.hidden = false;
    this.#title.textContent = `#${visit.room}`;
    document.title = `#${visit.room} · Parley`;
    this.render(visit);
    this.#composer.focus();
  }

  hide(): void {
    this.#view.hidden = true;
    document.title = "Parley";
    this.#messages.clear();
    this.#composer.clear();
    this.#announcements.replaceChildren();
  }

  render(visit: Visit): void {
    const self = visit.welcome?.user ?? "";
    this.#connection.render(visit.connection);
    this.#renderNotice(visit.notice);
    this.#members.render(visit.roster, self);
    this.#composer.render({
      contentMax: visit.welcome?.settings.maxContentLength ?? Infinity,
      blocked: visit.welcome?.role === "reader" ? "You may read here, but not post." : "",
    });
    this.#messages.render(visit.timeline, self, visit);
  }

  announce(text: string): void {
    this.#announcements.append(make("p", "", text));
    if (this.#announcements.childElementCount > ANNOUNCEMENTS_MAX) this.#announcements.firstElementChild?.remove();
  }

  #renderNotice(text: string): void {
    this.#notice.hidden = text === "";
    if (this.#noticeText.textContent !== text) this.#noticeText.textContent = text;
  }
}
