// Rooms that several parts of an application use at the same time: one connection for each, open while one of them holds it. The
// hooks of client/react hold them; this file knows no framework.
import type {
  ActionPayload,
  Message,
  ModerationAction,
  SearchAnswer,
  SearchPayload,
} from "../../src/protocol/chat-events.ts";
import type { LinkCard } from "../../src/protocol/schemas/link-card.ts";
import type { ConnectOptions, Draft, Room, SendOptions, SentAnswer, Token } from "../core/api.ts";
import type { FeatureEvents } from "../core/feature-events.ts";
import { systemClock } from "../core/clock.ts";
import { connectRoom } from "../core/room.ts";
import type { MessagePlace, Outcome, RoomStore, RoomStoreOptions, ThreadsApi } from "./api.ts";
import { NO_CONNECTION } from "./answers.ts";
import { INITIAL } from "./initial-state.ts";
import { createRoomStore } from "./room-store.ts";
import { Shared } from "./shared.ts";
import type { Abilities, Person, RoomState, ThreadState } from "./state.ts";

/** A store whose connection its holders open and close. */
export type RoomHandle<Own extends FeatureEvents = FeatureEvents> = Omit<RoomStore<Own>, "close">;

/** `kept` is of one room. */
export type RoomOptions = ConnectOptions & Omit<RoomStoreOptions, "kept">;

/** Values by their keys for as long as something uses them; on servers, where nothing is ever held, they do not pile up either. */
export class WeakValues<Value extends object> {
  readonly #values = new Map<string, WeakRef<Value>>();

  get(key: string, make: () => Value): Value {
    const known = this.#values.get(key)?.deref();
    if (known) return known;
    for (const [other, value] of this.#values) if (!value.deref()) this.#values.delete(other);
    const made = make();
    this.#values.set(key, new WeakRef(made));
    return made;
  }
}

/** The rooms of one user in one chat. */
export class SharedRooms {
  /** Functions among them are looked up at each call, so that the newest ones count. */
  options: RoomOptions;
  /** The chat's address. */
  readonly url: string;
  readonly #rooms = new WeakValues<SharedRoom>();

  constructor(url: string, options: RoomOptions) {
    this.url = url;
    this.options = options;
  }

  /** The same one for the same name. Connects nothing. */
  get(name: string): SharedRoom {
    const previewOf = async (file: File): Promise<Blob | undefined> => this.options.previewOf?.(file);
    const open = (): RoomStore => createRoomStore(this.#connect(name), { ...this.options, previewOf });
    return this.#rooms.get(name, () => new SharedRoom(open, this.options.clock));
  }

  /** Of functions, the newest one is called. */
  get token(): Token | undefined {
    if (typeof this.options.token !== "function") return this.options.token;
    return (refused) => {
      const { token } = this.options;
      return typeof token === "function" ? token(refused) : (token ?? "");
    };
  }

  #connect(name: string): Room {
    const { token: _token, inherit, ...options } = this.options;
    return connectRoom(this.url, name, {
      ...options,
      ...(this.token !== undefined && { token: this.token }),
      ...(inherit && { inherit: (user: string) => this.options.inherit?.(user) ?? "leave" }),
    });
  }
}

export class SharedRoom extends Shared<RoomState, RoomStore> implements RoomHandle {
  constructor(open: () => RoomStore, clock = systemClock) {
    super(open, INITIAL, clock);
  }

  get room(): Room {
    return this.opened.room;
  }

  now(): number {
    return this.current?.now() ?? this.clock.now();
  }

  loadNotShown(from: number): Promise<void> {
    return this.opened.loadNotShown(from);
  }

  attend(to: "all" | "counts"): Promise<void> {
    return this.opened.attend(to);
  }

  send(content: string, options?: SendOptions): Promise<SentAnswer> {
    return this.opened.send(content, options);
  }

  retry(failed: Draft): Promise<SentAnswer> {
    return this.opened.retry(failed);
  }

  discard(clientMsgId: string): boolean {
    return this.opened.discard(clientMsgId);
  }

  edit(id: string, content: string): Promise<Outcome> {
    return this.opened.edit(id, content);
  }

  remove(id: string): Promise<Outcome> {
    return this.opened.remove(id);
  }

  react(id: string, emoji: string, on: boolean): Promise<Outcome> {
    return this.opened.react(id, emoji, on);
  }

  search(query: string | SearchPayload): Promise<Outcome<Extract<SearchAnswer, { readonly ok: true }>>> {
    return this.opened.search(query);
  }

  /** Opens nothing: it is called while drawing. */
  quoted(id: string): Message | null | undefined {
    return this.current?.quoted(id);
  }

  linkCard(url: string): LinkCard | null | undefined {
    return this.current?.linkCard(url);
  }

  /** Opens nothing: it is read while drawing. */
  get threads(): ThreadsApi {
    return this.current?.threads ?? NO_THREADS;
  }

  abilitiesOf(message: Message): Abilities {
    return this.current?.abilitiesOf(message) ?? NOTHING;
  }

  mayModerate(user: string): boolean {
    return this.current?.mayModerate(user) ?? false;
  }

  loadEarlier(): Promise<void> {
    return this.opened.loadEarlier();
  }

  loadLater(): Promise<void> {
    return this.opened.loadLater();
  }

  showNewest(): Promise<void> {
    return this.opened.showNewest();
  }

  jumpTo(place: MessagePlace): Promise<Outcome<{ readonly message: Message }>> {
    return this.opened.jumpTo(place);
  }

  follow(following: boolean): void {
    this.opened.follow(following);
  }

  look(on: boolean): void {
    this.opened.look(on);
  }

  markRead(seq?: number): void {
    this.opened.markRead(seq);
  }

  markUnread(seq: number): Promise<Outcome> {
    return this.opened.markUnread(seq);
  }

  flush(): void {
    this.current?.flush();
  }

  typing(on: boolean): void {
    this.opened.typing(on);
  }

  findMembers(name: string): Promise<Outcome<{ readonly members: readonly Person[] }>> {
    return this.opened.findMembers(name);
  }

  moderate<Action extends ModerationAction>(action: Action, payload: ActionPayload<Action>): Promise<Outcome> {
    return this.opened.moderate(action, payload);
  }

  ask: RoomHandle["ask"] = (event, payload) => this.opened.ask(event, payload);

  addFiles(files: Iterable<File>): void {
    this.opened.addFiles(files);
  }

  retryUpload(id: number): void {
    this.opened.retryUpload(id);
  }

  removeUpload(id: number): void {
    this.opened.removeUpload(id);
  }

  clearUploads(): void {
    this.opened.clearUploads();
  }

  dismissProblem(): void {
    this.current?.dismissProblem();
  }

  connect(): void {
    this.opened.connect();
  }
}

const NOTHING: Abilities = { reply: false, react: false, edit: false, remove: false, moderate: false };
const nothing = async (): Promise<void> => {};

const NO_THREADS: ThreadsApi = {
  repliesTo: () => undefined,
  of: () => NO_THREAD,
  own: { threads: [], unread: 0 },
  load: nothing,
  refresh: nothing,
  markRead: () => {},
  follow: async () => NO_CONNECTION,
};
const NO_THREAD: ThreadState = { replies: [], hasEarlier: false, isLoading: true };
