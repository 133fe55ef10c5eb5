// The page's state as a whole: the reader, the room on the screen, open panels and dialogs. Components draw it and call it;
// each change is drawn once per frame.
import {
  claimsOf,
  threadOf,
  unreadOf,
  type JoinedRoom,
  type Message,
  type MessagePlace,
  type Outgoing,
  type RoomOverview,
} from "parley-rooms/client";

import { t } from "./language.ts";
import { RoomView, type Announcement, type Unsent } from "./room-view.ts";
import { type Identity, isGuest, ReaderIdentity, TokenNeeded, type TokenSource, userOf } from "./reader-identity.ts";
import { Drawing, inBrowser } from "./drawing.ts";
import { draftedRooms, moveDrafts, writerOf } from "./drafts.ts";
import { LikedEmoji } from "./emoji.ts";
import { keep, local } from "./json-storage.ts";
import { LastReadings } from "./last-read.ts";
import { OpenParts } from "./open-parts.ts";
import { begunAt, fetchEntrance, goToSignIn, type Entrance, type Returned } from "./sign-in.ts";
import { clearStoredData, countUnfinished, joinKey, rememberedAt, type Owner } from "./stored-data.ts";
import { RoomDirectory } from "./room-directory.ts";
import type { Notifier } from "./notifier.ts";
import { Standing } from "./standing.ts";
import { SpokenNotices } from "./spoken-notices.ts";
import { countIn, countOf, type News, type MutedRooms, titleText } from "./news.ts";
import {
  isDirect,
  labelOf,
  neighbour,
  roomItems,
  roomNameOf,
  titleOf,
  type DirectPerson,
  type RoomItem,
} from "./room-items.ts";

const ANNOUNCEMENTS_MAX = 5;

export interface Joining {
  readonly name: string;
  readonly room: string;
  /** The room as the visitor typed it. */
  readonly typed?: string;
  /** Empty unless the visitor was asked for one. */
  readonly token: string;
}

export interface ChatStorePorts {
  /** The chat's address. */
  readonly base: string;
  /** Draws the whole again. */
  readonly changed: () => void;
  /** The embedding page's token source. */
  readonly token?: TokenSource;
  /** The room on the screen is another one. */
  readonly entered?: (room: string | undefined) => void;
  /** The reader does not want to come back to the room on the screen. */
  readonly left?: () => void;
  readonly announced?: (text: string) => void;
  /** Tells the reader of what they do not see; an embedded chat has none. */
  readonly notifier?: Notifier;
  /** Something has changed while nothing is drawn, because nobody sees the page. */
  readonly changedUnseen?: () => void;
  /** The visitor closes an embedded chat. */
  readonly dismissed?: () => void;
}

export const saidNow = (text: Announcement): string => (typeof text === "string" ? text : text());

export class ChatStore extends OpenParts {
  view: RoomView | undefined;
  directory: RoomDirectory | undefined;
  /** The last few events that are read aloud, for readers who cannot see the page. */
  announcements: readonly { readonly id: number; readonly text: Announcement }[] = [];
  /** Why the last attempt to join failed. */
  problem = "";
  /** The ways in; unknown until the form has asked the server. */
  entrance: Entrance | undefined;
  /** Whether the form has a place for a token. */
  isTokenAsked = false;
  /** Whether the server requires a token. */
  isTokenNeeded = false;
  isJoining = false;
  /** The reader's, as they gave it. */
  name = "";
  readonly isEmbedded: boolean;
  readonly liked: LikedEmoji;
  readonly notifier: Notifier | undefined;
  readonly standing: Standing;
  readonly lastRead: LastReadings;
  /** What the page around an embedded chat calls it; empty where it says nothing. */
  heading = "";
  /** Closes an embedded chat, where its page has a way to open it again. */
  readonly dismiss: (() => void) | undefined;
  readonly #ports: ChatStorePorts;
  readonly #identity: ReaderIdentity;
  readonly #joinKey: string;
  readonly #drawing: Drawing;
  #announced = 0;
  /** By room: files that the reader chose there, and that the room had not got when they left. */
  readonly #files = new Map<string, Unsent>();
  /** The reader's id, as the last room said. */
  #user = "";
  /** People with whom the reader began a conversation: the room may not know their names yet. */
  readonly #begun = new Map<string, DirectPerson>();
  readonly #notices = new SpokenNotices(this);
  /** A room that the reader makes, and the name that they typed for it. */
  #naming: { readonly room: string; readonly name: string } | undefined;
  /** The list said that something is new in the room on the screen although all of it is read. */
  #wasBehind = false;

  constructor(ports: ChatStorePorts) {
    super();
    this.#ports = ports;
    this.#identity = new ReaderIdentity(ports.base);
    this.lastRead = new LastReadings(ports.base, this.#identity, ports.token === undefined);
    this.#joinKey = joinKey(ports.base);
    this.standing = new Standing(ports.base);
    this.isEmbedded = ports.token !== undefined;
    this.notifier = ports.notifier;
    this.liked = new LikedEmoji(ports.base);
    this.dismiss = ports.dismissed;
    this.#drawing = new Drawing(inBrowser(ports.changed));
  }

  /** The first values of the join form, and whether this browser can go on as that person. */
  get remembered(): ReturnType<typeof rememberedAt> & { readonly isKnown: boolean } {
    const { kept } = this.#identity;
    const remembered = rememberedAt(this.#joinKey);
    return { ...remembered, name: kept?.name ?? remembered.name, isKnown: kept !== undefined };
  }

  /** Enters a room without the form. @returns whether this browser knows the reader */
  resume(room: string): boolean {
    const identity = this.#identity.kept;
    if (!identity) return false;
    this.name = identity.name;
    this.enter(room);
    return true;
  }

  /** Asks the server how a visitor may come in. */
  async askEntrance(): Promise<Entrance> {
    // If the server is away, the form is there all the same, and says so when it is sent.
    this.entrance = await fetchEntrance(this.#ports.base).catch(() => ({ guests: true }));
    this.isTokenNeeded = !this.entrance.guests && !this.entrance.user;
    this.changed();
    return this.entrance;
  }

  /** Leaves the page for the sign-in page, which leads back into the room. */
  signIn(room: string): void {
    const { signIn } = this.entrance ?? {};
    const { place } = this.standing.wanted?.room === room ? this.standing.wanted : {};
    if (signIn !== undefined)
      goToSignIn(this.#ports.base, signIn, { room, ...(typeof place === "string" && { message: place }) });
  }

  /** The visitor comes back from the sign-in page. @returns whether they are in the room that they came for */
  async signedIn({ state, token }: Returned): Promise<boolean> {
    const begun = begunAt(this.#ports.base, state);
    // Anybody can write a link with a token: it would sign the visitor in as somebody else.
    if (begun === undefined) {
      if (!this.#identity.kept) this.problem = t("This sign-in did not begin in this browser. Sign in here.");
      return false;
    }
    const { room, message } = begun;
    if (message !== undefined) this.standing.wanted = { room, place: message };
    const claims = claimsOf(token ?? "");
    const { user } = token === undefined ? await this.askEntrance() : {};
    if (token !== undefined) this.#enterAs({ name: claims?.name ?? claims?.user ?? "", token }, room);
    else if (user) this.#enterAs({ name: user.name, token: "" }, room);
    else this.problem = t("The sign-in page did not sign you in. Try again.");
    return this.view !== undefined;
  }

  async join({ name, room, typed = room, token }: Joining): Promise<void> {
    this.isJoining = true;
    this.problem = "";
    this.changed();
    try {
      this.name = name;
      const { user } = this.entrance ?? {};
      if (token !== "" || user) this.#identity.keep({ name, token });
      await this.#token();
      this.#naming = { room, name: typed };
      this.#enterAs(this.#identity.kept, room);
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.isTokenNeeded ||= error instanceof TokenNeeded;
      this.isTokenAsked ||= this.isTokenNeeded;
    }
    this.isJoining = false;
    this.changed();
  }

  #enterAs(identity: Identity | undefined, room: string): void {
    if (identity) this.#identity.keep(identity);
    this.name = identity?.name ?? this.name;
    keep(local, this.#joinKey, { name: this.name, room });
    this.isTokenAsked = this.isTokenNeeded = false;
    this.enter(room);
  }

  /** Enters a room whose name was typed. @returns `false` where that is no name of a room */
  enterNamed(typed: string): boolean {
    const room = roomNameOf(typed);
    if (room === undefined) return false;
    this.#naming = { room, name: typed };
    this.enter(room);
    return true;
  }

  enter(room: string): void {
    if (this.view?.room === room) return;
    this.#leaveRoom();
    if (this.standing.wanted?.room !== room) this.standing.wanted = undefined;
    const token = this.#ports.token ?? { current: () => this.#token(), renew: () => this.#identity.renew(this.name) };
    const hooks = {
      inherit: (user: string) => this.#identity.inheritanceOf(user),
      ...(!this.isEmbedded && { welcomed: (user: string) => this.#identity.welcomed(user) }),
      changed: () => this.#onViewChanged(),
      announce: (text: Announcement) => this.announce(text),
      hasThreads: !this.isEmbedded,
      spoken: (message: Message) => this.#notices.notifyHere(message),
    };
    this.view = new RoomView(this.#ports.base, room, token, hooks, this.lastRead.in(room));
    this.view.goOn(this.#files.get(room) ?? []);
    this.announcements = [];
    this.ui = {};
    if (this.panel === "rooms" || this.panel === "thread") this.panel = undefined;
    if (!this.isEmbedded)
      this.directory ??= new RoomDirectory({
        base: this.#ports.base,
        token: async (refused) => {
          if (refused !== undefined) await token.renew(refused);
          return token.current();
        },
        changed: () => this.#onNews(),
        isNotifying: () => this.notifier?.isOn ?? false,
      });
    this.directory?.enter(room);
    this.#ports.entered?.(room);
    this.changed();
  }

  /** The reader, also before the room on the screen has answered. */
  get reader(): { readonly user: string; readonly name: string; readonly role: string } {
    const { welcome, me } = this.view?.state ?? {};
    if (welcome && me) return me;
    const claims = claimsOf(this.#identity.kept?.token ?? "");
    return { user: this.#user || (claims?.user ?? ""), name: this.name, role: claims?.role ?? "member" };
  }

  /** Whether the reader may choose another name: a guest has no other account. */
  get mayRename(): boolean {
    return this.#identity.kept?.isGuest === true;
  }

  /** The reader goes on under another name. @returns why not; empty if it is done */
  async rename(name: string): Promise<string> {
    const { base } = this.#ports;
    try {
      await this.#identity.rename(name);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    const { view, reader } = this;
    this.#leaveRoom();
    // A guest's drafts are kept by the name.
    const { user } = reader;
    if (isGuest(user)) moveDrafts(base, writerOf({ user, name: this.name }), writerOf({ user, name }));
    this.name = name;
    keep(local, this.#joinKey, { name, ...(view && { room: view.room }) });
    if (view) this.enter(view.room);
    return "";
  }

  /** How many members the room on the screen has; until it answers, as the list of rooms says. */
  get memberCount(): number | undefined {
    const { view } = this;
    if (view?.state.welcome) return view.state.presence.count;
    return view && this.#listed(view.room)?.members;
  }

  /** Shows a message, in whichever room it is; none to a reader who has signed out. */
  goTo(room: string, place: MessagePlace): void {
    const { view } = this;
    if (!view) return;
    this.standing.wanted = { room, place };
    if (view.room === room) this.standing.restore(view);
    else this.enter(room);
  }

  /** Takes the room off the reader's list. The room that they were in last is on the screen then; without one, the form. */
  forget(): void {
    const { view, directory } = this;
    if (!view || !directory) return;
    directory.forget(view.room, view.state.reading.lastSeq);
    this.lastRead.forget();
    const next = directory.entered.at(-1);
    keep(local, this.#joinKey, { name: this.name, ...(next !== undefined && { room: next }) });
    if (next === undefined) {
      this.#ports.left?.();
      return this.leave();
    }
    this.enter(next);
  }

  #leaveRoom(): void {
    const { view } = this;
    if (view) this.#files.set(view.room, view.leave());
    this.view = undefined;
  }

  /** Back to the form. Somebody else may come in there. @param wanted what the reader goes on to afterwards */
  leave(wanted?: Standing["wanted"]): void {
    this.#leaveRoom();
    [this.sought, this.standing.wanted] = [undefined, wanted];
    this.lastRead.forget();
    this.#files.clear();
    this.directory?.close();
    this.directory = undefined;
    this.#notices.forget();
    this.panel = undefined;
    this.ui = {};
    this.#ports.entered?.(undefined);
    this.changed();
  }

  /** The same person goes on with another token: their stored data stays. */
  async signInAgain(): Promise<void> {
    const { connection, room } = this.view ?? {};
    const { signIn, guests } = await this.askEntrance();
    if (signIn !== undefined && room !== undefined) return this.signIn(room);
    const isForbidden = connection?.kind === "stopped" && connection.code === "FORBIDDEN_ROOM";
    // Other rooms may be open to a guest, who stays the same person there.
    if (!(isForbidden && this.#identity.guest(this.name))) this.#identity.forget();
    this.problem = guests ? t("Paste a token, or go on as a guest without one.") : "";
    this.isTokenAsked = true;
    this.leave(this.standing.wanted);
  }

  /** Deletes all data of the reader from this browser; asks first where unsent messages or drafts would be lost. */
  signOut(): void {
    const unfinished = countUnfinished(this.#owner);
    if (unfinished.unsent + unfinished.drafts === 0) this.signOutNow();
    else this.set({ dialog: { kind: "sign-out", unfinished } });
  }

  signOutNow(): void {
    const [owner, { isReplaced }] = [this.#owner, this.#identity];
    this.leave();
    this.#identity.forget();
    clearStoredData(owner, isReplaced);
    this.notifier?.forget(isReplaced);
    this.standing.forget();
    this.name = this.#user = this.problem = "";
    this.isTokenAsked = this.isTokenNeeded = false;
  }

  /** The page comes out of the back/forward cache, in which it heard nothing of other tabs. */
  comeBackFromCache(): void {
    if (this.#identity.isGone || this.#identity.isReplaced) this.signOutNow();
  }

  /** Another tab has changed the browser's storage: a reader who signed out there, or has another name, has done so here, too. */
  onKept({ key, newValue }: StorageEvent): void {
    if (key !== this.#joinKey) return;
    if (newValue === null) return this.signOutNow();
    const name = this.view && this.#identity.adoptName();
    if (name === undefined) return;
    this.name = name;
    this.#comeBackTo(this.view);
  }

  /** After an end that only the reader can go on from, or instead of waiting. */
  comeBack(): void {
    const { view } = this;
    if (!view?.isOver) return view?.store.connect();
    this.#comeBackTo(view);
  }

  #comeBackTo(view: RoomView | undefined): void {
    this.#leaveRoom();
    if (view) this.enter(view.room);
  }

  /** Sends a failed message again; where the view is over, with the next view. */
  retry(outgoing: Outgoing): void {
    if (this.view?.isOver) this.comeBack();
    void this.view?.store.retry(outgoing);
  }

  /** To the next room of the list, or the one before. */
  step(step: 1 | -1): void {
    const { view } = this;
    if (!view) return;
    const next = neighbour(this.roomItems(), view.room, step);
    if (next !== undefined) this.enter(next);
  }

  /** The list of rooms. */
  roomItems(more: Partial<Pick<Parameters<typeof roomItems>[0], "filter" | "held">> = {}): RoomItem[] {
    const { view, directory } = this;
    if (!view || !directory) return [];
    const { listed, own, entered } = directory;
    const members = this.memberCount;
    const rules = this.#rules;
    const here = this.#newsHere;
    const { name } = this.known(view.room);
    return roomItems({ listed, joined: own, entered, current: view.room, rules, ...more }).map((item) =>
      // The connected room's own facts are fresher than the lobby's.
      item.room === view.room
        ? {
            ...item,
            ...(here && { unread: countIn(here, rules), mentions: here.mentions }),
            ...(members !== undefined && { members }),
            ...(name !== undefined && { name }),
            ...(view.direct && { direct: view.direct }),
          }
        : item,
    );
  }

  /** Rooms, besides the one on the screen, in which the reader has begun to write. */
  get drafted(): ReadonlySet<string> {
    const { view } = this;
    const drafted = new Set(draftedRooms(this.#ports.base, view?.writing.writer));
    drafted.delete(view?.room ?? "");
    return drafted;
  }

  /** How much is new for the reader, in all of their rooms. */
  get newsCount(): number {
    const { view, directory } = this;
    const others = (directory?.own ?? []).filter(({ room }) => room !== view?.room);
    const here = this.#newsHere;
    return countOf(here ? [...others, here] : others, this.#rules);
  }

  get windowTitle(): string {
    return this.view ? titleText(this.title, this.newsCount) : "Parley";
  }

  get #rules(): MutedRooms {
    return this.notifier ?? { muted: new Set() };
  }

  /** Of the room on the screen, unless the reader sees what is new as it comes. */
  get #newsHere(): News | undefined {
    const { view } = this;
    if (!view || !(view.state.reading.keptUnread || document.visibilityState !== "visible")) return undefined;
    const { count, mentions } = unreadOf(view.state);
    return { room: view.room, unread: count, mentions };
  }

  /** The room on the screen in words. */
  get title(): string {
    const { view } = this;
    if (!view) return "Parley";
    if (this.heading !== "") return this.heading;
    const { tag } = (isDirect(view.room) && this.roomItems().find(({ room }) => room === view.room)) || {};
    return titleOf(view.room, { ...this.known(view.room), tag });
  }

  /** The same beside the mark of a room. */
  get label(): string {
    const { view, heading, title } = this;
    return view?.kind === "room" && heading === "" ? labelOf({ room: view.room, ...this.known(view.room) }) : title;
  }

  /** What the page knows of a room: the other one of a conversation, and the name that moderators gave it. */
  known(room: string): { readonly direct?: DirectPerson | undefined; readonly name?: string | undefined } {
    const { view } = this;
    const listed = this.#listed(room);
    const here = view?.room === room && view.state.welcome ? view : undefined;
    const last = this.lastRead.in(room);
    return {
      direct: here?.direct ?? this.#begun.get(room) ?? listed?.direct ?? last?.direct,
      name: (here ? here.state.modes.name : (listed ?? last)?.name) || undefined,
    };
  }

  #listed(room: string): (RoomOverview & Pick<Partial<JoinedRoom>, "direct">) | undefined {
    const { own = [], listed = [] } = this.directory ?? {};
    return [...own, ...listed].find((one) => one.room === room);
  }

  /** Whether the page's address leads others into the room on the screen. */
  get hasLink(): boolean {
    return !this.isEmbedded && this.view?.kind === "room";
  }

  /** Whether the reader may write to a person alone; a conversation leads to no other one, and an embed stays in its room. */
  mayMessage(user: string): boolean {
    const { view, isEmbedded } = this;
    return !isEmbedded && view !== undefined && !view.direct && user !== view.self && view.self !== "";
  }

  /** Begins the conversation with a person of the room on the screen, or goes on with it. */
  async message(person: DirectPerson): Promise<void> {
    const { view } = this;
    const room = await view?.actions.openDirect(person.user);
    if (room === undefined || this.view !== view) return;
    this.#begun.set(room, person);
    this.enter(room);
  }

  /** A message of the open thread is edited there. */
  edit(message: Message): void {
    const { view, thread } = this;
    if (!view) return;
    const isThere = thread !== undefined && thread === (threadOf(message) ?? message.id);
    const composing = isThere ? view.composingIn(thread) : view.composing;
    composing.writing.beginEdit({ id: message.id, content: view.people.withNames(message.content) });
  }

  announce(text: Announcement): void {
    const now = saidNow(text);
    if (now === "") return;
    this.announcements = [...this.announcements, { id: ++this.#announced, text }].slice(-ANNOUNCEMENTS_MAX);
    this.#ports.announced?.(now);
    this.#drawing.inTurn();
  }

  /** Draws in the next frame. */
  changed(): void {
    this.#tellUnseen();
    this.#drawing.soon();
  }

  /** Browsers give pages that nobody sees no frames. */
  #tellUnseen(): void {
    if (document.visibilityState !== "visible") this.#ports.changedUnseen?.();
  }

  close(): void {
    this.leave();
    this.#drawing.stop();
  }

  #onViewChanged(): void {
    this.closeGone();
    this.#user = this.view?.self || this.#user;
    if (this.view) this.standing.restore(this.view);
    if (this.view?.connection.kind === "stopped") this.lastRead.keep(this.view);
    this.#nameRoom();
    this.#tellUnseen();
    this.#drawing.inTurn();
  }

  /** Who makes a room names it. */
  #nameRoom(): void {
    const { view } = this;
    const { room, name = "" } = this.#naming ?? {};
    if (view?.room !== room || !view?.state.welcome) return;
    this.#naming = undefined;
    const isNew = view.state.reading.lastSeq === 0 && !view.state.modes.name && view.mayDescribe("name");
    if (isNew && name.trim() !== room) void view.store.moderate("describe", { name });
  }

  /** The lobby may have lost in a crash that the reader has read the room on the screen: the room tells it again. */
  #onNews(): void {
    const { view, directory } = this;
    const listed = view && directory?.own.find(({ room }) => room === view.room);
    const { readSeq, lastSeq } = view?.state.reading ?? {};
    const isBehind = listed !== undefined && listed.unread > 0 && readSeq === lastSeq && lastSeq === listed.lastSeq;
    if (isBehind && this.#wasBehind) void view!.store.ask("read", { seq: lastSeq });
    this.#wasBehind = isBehind;
    this.#notices.notifyOthers();
    this.changed();
  }

  get #owner(): Owner {
    const user = (this.view?.self || undefined) ?? userOf(this.#identity.kept);
    return { base: this.#ports.base, user, writer: this.view?.writing.writer };
  }

  /** Returns at once where the token is stored: the first letter of a draft needs its writer. */
  #token(): Promise<string> | string {
    const token = this.#identity.token(this.name) ?? this.#identity.renew(this.name);
    return token === "" ? this.#cookie() : token;
  }

  /** An empty token, if the server knows the reader by a cookie: a refused connection would not say why. @throws TokenNeeded */
  async #cookie(): Promise<string> {
    const { user } = await fetchEntrance(this.#ports.base);
    if (!user) throw new TokenNeeded(t("You are not signed in any more."));
    return "";
  }
}
