// The page's state as a whole: the reader, the room on the screen, open panels and dialogs. Components draw it and call it;
// each change is drawn once per frame.
import type { Message, Welcome } from "../../../src/protocol/chat-events.ts";
import { isRoomName } from "../../../src/protocol/room-name.ts";
import { claimsOf } from "../../core/claims.ts";
import { forgetToken, keepToken, keptGuest, keptIdentity, keptToken, renewToken, TokenNeeded } from "./identity.ts";
import { keep, readJson } from "./json-storage.ts";
import { clearStoredData, countUnfinished, JOIN_KEY, type Owner, type Unfinished } from "./stored-data.ts";
import { RoomDirectory } from "./room-directory.ts";
import { neighbour, roomItems } from "./room-list.ts";
import type { Outgoing } from "./timeline.ts";
import { RoomView } from "./room-view.ts";
import type { TokenSource } from "./room-view-ports.ts";

const ANNOUNCEMENTS_MAX = 5;
const local = (): Storage => localStorage;

/** What stands beside the messages; on a phone, above them. */
export type Panel = "rooms" | "members" | "search" | undefined;

export interface MenuItem {
  readonly label: string;
  readonly act: () => void;
  readonly isGrave?: boolean;
  /** Of several, one of which holds: whether it is this one. */
  readonly isChosen?: boolean;
}

export type Dialog =
  | { readonly kind: "shortcuts" | "new-room" | "room" }
  | { readonly kind: "sign-out"; readonly unfinished: Unfinished }
  | { readonly kind: "moderate"; readonly action: "kick" | "mute" | "ban"; readonly user: string }
  | { readonly kind: "delete"; readonly message: Message }
  | { readonly kind: "image"; readonly key: string };

/** What lies open over the page. */
export interface Interface {
  readonly dialog?: Dialog | undefined;
  readonly menu?: { readonly anchor: Element; readonly items: readonly MenuItem[] } | undefined;
  readonly reacting?: { readonly anchor: Element; readonly message: Message } | undefined;
}

export interface Joining {
  readonly name: string;
  readonly room: string;
  /** Empty unless the visitor was asked for one. */
  readonly token: string;
}

export interface SessionPorts {
  readonly origin: string;
  /** Has the whole drawn again. */
  readonly changed: () => void;
  /** The embedding page's token source. */
  readonly token?: TokenSource;
  /** The room on the screen is another one. */
  readonly entered?: (room: string | undefined) => void;
  readonly announced?: (text: string) => void;
}

export class Session {
  view: RoomView | undefined;
  directory: RoomDirectory | undefined;
  panel: Panel;
  ui: Interface = {};
  /** Said to who cannot see the page; the last few. */
  announcements: readonly { readonly id: number; readonly text: string }[] = [];
  /** What is wrong with the last attempt to join. */
  problem = "";
  /** Whether the form has a place for a token. */
  isTokenAsked = false;
  /** Whether the server requires a token. */
  isTokenNeeded = false;
  isJoining = false;
  readonly origin: string;
  readonly isEmbedded: boolean;
  readonly #ports: SessionPorts;
  #name = "";
  #frame = 0;
  #announced = 0;
  #welcomed: Welcome | undefined;

  constructor(ports: SessionPorts) {
    this.#ports = ports;
    this.origin = ports.origin;
    this.isEmbedded = ports.token !== undefined;
  }

  /** What the form begins with. */
  get remembered(): { readonly name: string; readonly room: string | undefined } {
    const kept = readJson(local, JOIN_KEY) as { name?: unknown; room?: unknown } | undefined;
    return {
      name: typeof kept?.name === "string" ? kept.name : "",
      room: typeof kept?.room === "string" && isRoomName(kept.room) ? kept.room : undefined,
    };
  }

  /** Goes straight into a room. @returns whether it is known who the reader is */
  resume(room: string): boolean {
    const identity = keptIdentity();
    if (!identity) return false;
    this.#name = identity.name;
    this.enter(room);
    return true;
  }

  async join({ name, room, token }: Joining): Promise<void> {
    this.isJoining = true;
    this.problem = "";
    this.changed();
    try {
      this.#name = name;
      if (token !== "") keepToken({ name, token });
      await this.#token();
      keep(local, JOIN_KEY, { name, room });
      this.isTokenAsked = this.isTokenNeeded = false;
      this.enter(room);
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.isTokenNeeded ||= error instanceof TokenNeeded;
      this.isTokenAsked ||= this.isTokenNeeded;
    }
    this.isJoining = false;
    this.changed();
  }

  enter(room: string): void {
    if (this.view?.room === room) return;
    if (this.view) this.directory?.saw(this.view.room, this.view.reading.seen);
    this.view?.leave();
    this.view = undefined;
    const token = this.#ports.token ?? {
      current: () => this.#token(),
      renew: () => renewToken(this.origin, this.#name),
    };
    this.view = new RoomView(this.origin, room, token, {
      changed: () => this.#onViewChanged(),
      announce: (text) => this.announce(text),
    });
    this.announcements = [];
    this.ui = {};
    if (this.panel === "rooms") this.panel = undefined;
    if (!this.isEmbedded)
      this.directory ??= new RoomDirectory({
        origin: this.origin,
        token: token.current,
        changed: () => this.changed(),
      });
    this.directory?.saw(room, 0);
    this.#ports.entered?.(room);
    this.changed();
  }

  /** Takes the room off the reader's list, too. */
  forget(): void {
    if (this.view) this.directory?.forget(this.view.room);
    this.leave();
  }

  /** Back to the form. */
  leave(): void {
    this.view?.leave();
    this.view = undefined;
    this.directory?.close();
    this.directory = undefined;
    this.panel = undefined;
    this.ui = {};
    this.#ports.entered?.(undefined);
    this.changed();
  }

  /** The same person goes on with another token: what is theirs stays. */
  signInAgain(): void {
    const { connection } = this.view ?? {};
    const isForbidden = connection?.kind === "stopped" && connection.code === "FORBIDDEN_ROOM";
    // Other rooms may be open to a guest, who stays the same person there.
    if (!(isForbidden && keptGuest(this.#name))) forgetToken();
    this.problem = "Paste a token, or go on as a guest without one.";
    this.isTokenAsked = true;
    this.leave();
  }

  /** Nothing of the reader stays in this browser for the next one. What would be lost with it is asked about first. */
  signOut(): void {
    const unfinished = countUnfinished(this.#owner);
    if (unfinished.unsent + unfinished.drafts === 0) this.signOutNow();
    else this.set({ dialog: { kind: "sign-out", unfinished } });
  }

  signOutNow(): void {
    const owner = this.#owner;
    this.leave();
    forgetToken();
    clearStoredData(owner);
    this.#name = "";
    this.problem = "";
    this.isTokenAsked = this.isTokenNeeded = false;
  }

  /** Another tab has changed what this browser keeps: a reader who signed out there has signed out here. */
  onKept({ key, newValue }: StorageEvent): void {
    if (key === JOIN_KEY && newValue === null) this.signOutNow();
  }

  /** After an end that only the reader can go on from, or instead of waiting. */
  comeBack(): void {
    const { view } = this;
    if (!view?.isOver) return view?.reconnect();
    view.leave();
    this.view = undefined;
    this.enter(view.room);
  }

  /** Also where the view is over: then it goes out with the next one. */
  retry(outgoing: Outgoing): void {
    if (this.view?.isOver) this.comeBack();
    this.view?.retry(outgoing);
  }

  /** To the next room of the list, or the one before. */
  step(step: 1 | -1): void {
    const { view, directory } = this;
    if (!view || !directory) return;
    const { listed, seen } = directory;
    const next = neighbour(roomItems({ listed, seen, current: view.room }), view.room, step);
    if (next !== undefined) this.enter(next);
  }

  open(panel: Panel): void {
    this.panel = this.panel === panel ? undefined : panel;
    this.changed();
  }

  reply({ id }: Message): void {
    this.view?.writing.reply(id);
  }

  edit(message: Message): void {
    const { view } = this;
    view?.writing.change({ id: message.id, content: view.withNames(message.content) });
  }

  set(ui: Interface): void {
    this.ui = { ...this.ui, ...ui };
    this.changed();
  }

  announce(text: string): void {
    this.announcements = [...this.announcements, { id: ++this.#announced, text }].slice(-ANNOUNCEMENTS_MAX);
    this.#ports.announced?.(text);
    this.changed();
  }

  /** Draws once per frame, however much has changed. */
  changed(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#ports.changed();
    });
  }

  close(): void {
    this.leave();
    cancelAnimationFrame(this.#frame);
  }

  #onViewChanged(): void {
    const { view } = this;
    if (view?.welcome && view.welcome !== this.#welcomed) this.#onWelcome(view.welcome);
    const newest = view?.timeline.messages.at(-1);
    if (view && newest && document.visibilityState === "visible")
      this.directory?.saw(view.room, view.reading.following ? newest.seq : view.reading.seen);
    this.changed();
  }

  #onWelcome(welcome: Welcome): void {
    this.#welcomed = welcome;
    const { room, lastSeq } = welcome;
    // Fewer messages than were seen: the room was deleted and created again.
    if (lastSeq < (this.directory?.seen[room] ?? 0)) this.directory?.restarted(room);
  }

  get #owner(): Owner {
    const user = this.view?.welcome?.user ?? claimsOf(keptIdentity()?.token ?? "")?.user;
    return { origin: this.origin, user, writer: this.view?.writing.writer };
  }

  /** At once where it is known: whose draft it is must be known with the first letter. */
  #token(): Promise<string> | string {
    return keptToken(this.#name) ?? renewToken(this.origin, this.#name);
  }
}
