// The store of one connected room: its parts, and the user's actions. createRoomStore is for applications, and for the page.
import type {
  ActionPayload,
  Message,
  ModerationAction,
  SearchAnswer,
  SearchPayload,
} from "../../src/protocol/chat-events.ts";
import type { LinkCard } from "../../src/protocol/schemas/link-card.ts";
import type { Draft, Room, SendOptions, SentAnswer } from "../core/api.ts";
import type { FeatureEvents } from "../core/feature-events.ts";
import { draftOf } from "../core/outbox-storage.ts";
import { abilitiesOf, mayModerate } from "./abilities.ts";
import { settledNow } from "./answers.ts";
import type { MessagePlace, Outcome, RoomStore, RoomStoreOptions } from "./api.ts";
import { RoomParts } from "./room-parts.ts";
import type { Abilities, Person } from "./state.ts";

/** A store for a room that `connectRoom` made. */
export function createRoomStore<Own extends FeatureEvents = FeatureEvents>(
  room: Room<Own>,
  options: RoomStoreOptions = {},
): RoomStore<Own> {
  // The room takes and sends more events than this module has types for.
  return new ConnectedStore(room, options) as unknown as RoomStore<Own>;
}

class ConnectedStore extends RoomParts implements RoomStore {
  now(): number {
    return this.clock.now();
  }

  send(content: string, options?: SendOptions): Promise<SentAnswer> {
    this.signals.typing(false);
    const sent = this.room.send(content, options);
    void this.reading.wrote();
    return sent;
  }

  retry(failed: Draft): Promise<SentAnswer> {
    const { content, ...options } = draftOf(failed);
    return this.room.send(content, options);
  }

  discard(clientMsgId: string): boolean {
    const { room, timeline } = this;
    const known = timeline.outgoing.find((outgoing) => outgoing.clientMsgId === clientMsgId);
    // The outbox forgets old failed ones.
    const isGone = room.discard(clientMsgId) || known?.state === "failed";
    if (isGone) timeline.discard(clientMsgId);
    this.changed();
    return isGone;
  }

  edit(id: string, content: string): Promise<Outcome> {
    return this.ask("edit-message", { id, content });
  }

  remove(id: string): Promise<Outcome> {
    return this.ask("delete-message", { id });
  }

  react(id: string, emoji: string, on: boolean): Promise<Outcome> {
    return this.ask("react", { id, emoji, on });
  }

  async search(query: string | SearchPayload): Promise<Outcome<Extract<SearchAnswer, { readonly ok: true }>>> {
    const answer = await settledNow(this.room, () => this.room.search(query));
    if ("ok" in answer) {
      this.names.noteAuthors(answer.messages);
      this.history.know(answer.messages);
    }
    this.changed();
    return answer;
  }

  quoted(id: string): Message | null | undefined {
    return this.history.quoted(id);
  }

  linkCard(url: string): LinkCard | null | undefined {
    return this.linkCards.of(url);
  }

  abilitiesOf(message: Message): Abilities {
    const { me, welcome } = this.getSnapshot();
    const editWindowMs = (welcome?.settings.editWindowSeconds ?? 0) * 1000;
    return abilitiesOf(message, me, { outranks: this.mayModerate(message.sender), editWindowMs, nowMs: this.now() });
  }

  mayModerate(user: string): boolean {
    const { me, presence } = this.getSnapshot();
    return mayModerate(me, user, presence.members);
  }

  loadEarlier(): Promise<void> {
    return this.history.loadEarlier();
  }

  loadLater(): Promise<void> {
    return this.history.loadLater();
  }

  loadNotShown(from: number): Promise<void> {
    return this.history.loadNotShown(from);
  }

  async attend(to: "all" | "counts"): Promise<void> {
    // Changes that come right behind the answer are later than those that were missed.
    const { rev } = this.history;
    if (!(await this.room.attend(to))) return;
    // Their ends may have come meanwhile.
    this.typists.replace([]);
    this.changed();
    if (to === "all") this.threads.welcome();
    await this.history.catchUp(rev);
  }

  showNewest(): Promise<void> {
    return this.reading.showNewest();
  }

  jumpTo(place: MessagePlace): Promise<Outcome<{ readonly message: Message }>> {
    return this.reading.jumpTo(place);
  }

  follow(following: boolean): void {
    this.reading.follow(following);
  }

  look(on: boolean): void {
    this.reading.look(on);
  }

  markRead(seq = this.timeline.messages.at(-1)?.seq ?? 0): void {
    if (this.signals.markRead(seq)) this.changed();
  }

  async markUnread(seq: number): Promise<Outcome> {
    this.signals.keepUnread();
    const outcome = await this.ask("read", { seq: seq - 1, back: true });
    if ("error" in outcome) this.signals.readOn();
    else this.reading.markedUnread(seq - 1);
    this.changed();
    return outcome;
  }

  flush(): void {
    this.signals.flush();
  }

  typing(on: boolean): void {
    this.signals.typing(on);
  }

  findMembers(name: string): Promise<Outcome<{ readonly members: readonly Person[] }>> {
    return this.presence.find(name);
  }

  moderate<Action extends ModerationAction>(action: Action, payload: ActionPayload<Action>): Promise<Outcome> {
    // All of these events are answered alike.
    return this.ask(action as "kick", payload as ActionPayload<"kick">);
  }

  addFiles(files: Iterable<File>): void {
    for (const file of files) void this.uploads.add(file);
  }

  retryUpload(id: number): void {
    void this.uploads.retry(id);
  }

  removeUpload(id: number): void {
    this.uploads.remove(id);
  }

  clearUploads(): void {
    this.uploads.clear();
  }

  dismissProblem(): void {
    this.setProblem(undefined);
  }

  connect(): void {
    this.room.connect();
  }

  close(): void {
    this.end();
  }

  ask: RoomStore["ask"] = (event, payload) =>
    settledNow(this.room, () => this.room.ask(event, payload) as Promise<never>);
}
