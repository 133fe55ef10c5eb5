// <parley-room room="…">: a chat room as an element of any page, drawn by the same components as the chat page, in a
// shadow root of its own so that neither's styles reach the other. GET /embed.js serves it; docs/embed.md explains it.
import { render } from "preact";
import { baseOf, isRoomName, unreadOf, type RefusalCode } from "parley-rooms/client";

import { App, type Parts } from "../page/components/app.tsx";
import { Dialogs } from "../page/components/dialogs.tsx";
import { EmojiPicker } from "../page/components/emoji-picker.tsx";
import { isTouched, keepFieldEventsInside, leaveInputMethodsTheirKeys } from "../page/components/keys.ts";
import { MemberList } from "../page/components/member-list.tsx";
import { MenuPopover } from "../page/components/popover.tsx";
import { SearchPanel } from "../page/components/search-panel.tsx";
import { giveTextsElements } from "../page/components/texts.ts";
import { applyChosenTheme } from "../page/components/theme.ts";
import { direction, language, startLanguage, t } from "../page/state/language.ts";
import { embeddedGuest } from "./embedded-guest.ts";
import { Launcher } from "./launcher.tsx";
import { keep, local, readJson } from "../page/state/json-storage.ts";
import { TokenNeeded } from "../page/state/reader-identity.ts";
import { ChatStore } from "../page/state/chat-store.ts";
import type { ShownConnection } from "../page/state/shown-connection.ts";

/** The style sheet, put here by the build. */
declare const EMBED_CSS: string;

/** Where this module came from is where the rooms are, unless `origin` says otherwise. */
const home = new URL(".", import.meta.url).href;

const PARTS: Parts = {
  dialogs: Dialogs,
  members: MemberList,
  menu: MenuPopover,
  picker: EmojiPicker,
  search: SearchPanel,
};

type TokenFunction = (refused?: RefusalCode) => Promise<string> | string;

let sheet: CSSStyleSheet | undefined;
let starting: Promise<unknown> | undefined;
let isStarted = false;

class ParleyRoom extends HTMLElement {
  static readonly observedAttributes = ["room", "name", "origin", "token-from", "launcher", "open", "title"];
  #token: TokenFunction | string | undefined;
  #store: ChatStore | undefined;
  #lastState = "";
  /** An attempt that fails before it is drawn changes no state, and is another end. */
  #lastEnd: ShownConnection | undefined;
  #unread = 0;
  #mount: HTMLElement | undefined;
  /** The visitor opened or closed the chat, and has not got the focus where it belongs now. */
  #isMovingFocus = false;

  /** A token, or a function that gives one: instead of `token-from`. */
  get token(): TokenFunction | string | undefined {
    return this.#token;
  }

  set token(token: TokenFunction | string | undefined) {
    this.#token = token;
    this.#restart();
  }

  connectedCallback(): void {
    // A token that was set before this class was defined hides the accessor.
    if (Object.hasOwn(this, "token")) {
      const { token } = this;
      delete (this as { token?: unknown }).token;
      this.token = token;
    }
    applyChosenTheme(this);
    this.#mount ??= this.#prepare();
    // One language for all chats of a page.
    starting ??= startLanguage(this.closest<HTMLElement>("[lang]")?.lang).then(() => (isStarted = true));
    void starting.then(() => this.#restart());
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  attributeChangedCallback(name: string): void {
    if (this.#store && (name === "open" || name === "title")) this.#draw(this.#store);
    else this.#restart();
  }

  /** A launcher shows the chat while it is open. */
  get #isShown(): boolean {
    return !this.hasAttribute("launcher") || this.hasAttribute("open");
  }

  /** The visitor opens the chat, or closes it. */
  #toggle(isOpen: boolean): void {
    this.#isMovingFocus = true;
    this.toggleAttribute("open", isOpen);
  }

  #prepare(): HTMLElement {
    const root = this.attachShadow({ mode: "open" });
    const mount = document.createElement("div");
    mount.className = "parley";
    // Otherwise the browser shows the title of the element wherever the pointer rests in it.
    mount.title = "";
    root.append(mount);
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(inPixels(EMBED_CSS, mount));
    }
    root.adoptedStyleSheets = [sheet];
    leaveInputMethodsTheirKeys(mount);
    keepFieldEventsInside(mount);
    return mount;
  }

  #restart(): void {
    this.#stop();
    const room = this.getAttribute("room") ?? "";
    if (!this.isConnected || !this.#mount || !isStarted) return;
    // What was counted may be of another room.
    this.#setUnread(0);
    Object.assign(this.#mount, { lang: language(), dir: direction() });
    if (!isRoomName(room)) return this.#complain("INVALID_ROOM", `${JSON.stringify(room)} is not the name of a room`);
    const address = this.getAttribute("origin") ?? home;
    const base = addressOf(address);
    if (base === undefined)
      return this.#complain("INVALID_ORIGIN", `${JSON.stringify(address)} is not the address of a server`);
    // The launcher connects only for a visitor who has opened the chat before: it shows them how many answers came.
    const openedKey = `parley.opened ${base} ${room}`;
    if (!this.#isShown && readJson(local, openedKey) !== true) return this.#render();
    if (this.hasAttribute("launcher")) keep(local, openedKey, true);
    let known: string | undefined;
    const next = async (refused?: RefusalCode): Promise<string> =>
      (known = await this.#fetchToken(base, known, refused));
    const store = new ChatStore({
      base,
      token: { current: async () => known ?? next(), renew: next },
      changed: () => this.#draw(store),
      changedUnseen: () => this.#count(store),
      announced: (text) => this.#tell("parley-message", { text }),
      ...(this.hasAttribute("launcher") && { dismissed: () => this.#toggle(false) }),
    });
    this.#store = store;
    store.enter(room);
  }

  #stop(): void {
    this.#store?.close();
    this.#store = undefined;
    if (this.#mount) render(null, this.#mount);
  }

  #draw(store: ChatStore): void {
    if (store !== this.#store) return;
    const { connection, state: shown } = store.view ?? {};
    store.heading = this.title;
    this.#count(store);
    this.#render();
    const { missed = 0, news } = shown?.reading ?? {};
    const unseen = missed + (news?.count ?? 0);
    const state = `${connection?.kind} ${unseen}`;
    if (state !== this.#lastState) this.#tell("parley-state", { connection: connection?.kind, missed: unseen });
    this.#lastState = state;
    if (connection?.kind !== "stopped" || connection === this.#lastEnd) return;
    this.#lastEnd = connection;
    this.#complain(connection.isTokenNeeded ? "TOKEN_NEEDED" : connection.code, connection.message);
  }

  /** What the visitor sees as it comes is not unread, though it is marked as read a little later. */
  #count(store: ChatStore): void {
    if (store !== this.#store || !store.view) return;
    const { state, isLookedAt } = store.view;
    const isSeen = isLookedAt && this.#isShown && state.reading.following && !state.reading.keptUnread;
    this.#setUnread(isSeen ? 0 : unreadOf(state).count);
  }

  #setUnread(count: number): void {
    if (count === this.#unread) return;
    this.#unread = count;
    this.#tell("parley-unread", { count });
  }

  #render(): void {
    if (!this.#mount) return;
    const [isShown, store] = [this.#isShown, this.#store];
    render(
      <>
        {!isShown && <Launcher title={this.title} unread={this.#unread} onOpen={() => this.#toggle(true)} />}
        <div class="frame" hidden={!isShown}>
          {store && <App store={store} parts={PARTS} />}
        </div>
      </>,
      this.#mount,
    );
    const goal = this.#mount.querySelector<HTMLElement>(isShown ? ".draft" : ".launcher");
    if (!this.#isMovingFocus || !goal) return;
    this.#isMovingFocus = false;
    if (!isShown || !isTouched()) goal.focus();
  }

  /** Nothing goes on from here without the page, or its visitor. */
  #complain(code: string, message: string): void {
    console.error(`<parley-room>: ${message} (${code})`);
    this.#tell("parley-error", { code, message });
  }

  /** Goes through shadow roots around this one. */
  #tell(type: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
  }

  async #fetchToken(base: string, former: string | undefined, refused?: RefusalCode): Promise<string> {
    if (typeof this.#token === "string") return this.#token;
    if (this.#token) return this.#token(refused);
    const from = this.getAttribute("token-from");
    if (from === null) {
      return embeddedGuest(base, this.getAttribute("name") ?? t("Guest"), former).catch((error: unknown) => {
        // Visitors have no token to paste.
        if (error instanceof TokenNeeded) throw new TokenNeeded(t("This chat needs a token, and its page gives none."));
        throw error;
      });
    }
    // The page's own server knows its visitors by their cookies.
    const response = await fetch(new URL(from, document.baseURI), { method: "POST", credentials: "same-origin" });
    if (response.status === 401 || response.status === 403)
      throw new TokenNeeded(t("Sign in to join the conversation."));
    if (!response.ok) throw new Error(`${from} answered with status ${response.status}`);
    const body = (await response.json()) as { readonly token?: unknown };
    if (typeof body.token !== "string") throw new Error(`${from} answered without a token`);
    return body.token;
  }
}

/** A `rem` is the size of the embedding page's letters. The styles mean the size that the visitor chose in the browser. */
function inPixels(styles: string, probe: HTMLElement): string {
  probe.style.font = "medium serif";
  const size = Number.parseFloat(getComputedStyle(probe).fontSize);
  probe.removeAttribute("style");
  return styles.replaceAll(/([\d.]+)rem\b/g, (_, count: string) => `${Number(count) * size}px`);
}

function addressOf(address: string): string | undefined {
  try {
    return baseOf(address);
  } catch {
    return undefined;
  }
}

giveTextsElements();
// A page may load this twice.
if (!customElements.get("parley-room")) customElements.define("parley-room", ParleyRoom);
