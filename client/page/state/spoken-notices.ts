// Notifies the reader of messages that speak to them: of the room on the screen with their words, of others as the list of rooms knows them. The
// chat store owns one.
import { labelledIn, lineOf, relabelled, type Message } from "parley-rooms/client";

import type { ChatStore } from "./chat-store.ts";
import { t } from "./language.ts";
import { bare, named } from "./names.ts";
import { type News, NewlySpoken } from "./news.ts";
import { titleOf } from "./room-items.ts";

type Told = Pick<ChatStore, "view" | "directory" | "notifier" | "reader" | "title" | "known">;

export class SpokenNotices {
  readonly #store: Told;
  #spoken = new NewlySpoken();

  constructor(store: Told) {
    this.#store = store;
  }

  /** Another reader comes. */
  forget(): void {
    this.#spoken = new NewlySpoken();
  }

  /** A message of the room on the screen speaks to the reader. */
  notifyHere({ id, seq, name }: Message): void {
    const { view, title, notifier } = this.#store;
    if (!view) return;
    const who = view.direct ? named(name) : t("{name} in {room}", { name: named(name), room: title });
    void notifier?.notify({ room: view.room, seq, title: who, text: () => lineOf(view.wordsOf(id)) });
  }

  /** Messages of other rooms, of which the list knows no more than that they do. */
  notifyOthers(): void {
    const { directory } = this.#store;
    // Until the server has answered there is no list to compare the next one with.
    if (directory?.joined) for (const news of this.#spoken.take(directory.own)) this.#notify(news);
  }

  #notify({ room, mentionSeq: seq = 0 }: News): void {
    const { direct, name } = this.#store.known(room);
    const where = titleOf(room, { direct, name });
    const title = direct ? where : t("You were mentioned in {room}", { room: where });
    const text = (): string | Promise<string> => (direct ? t("New message") : this.#newestMention(room));
    void this.#store.notifier?.notify({ room, seq, title, text });
  }

  async #newestMention(room: string): Promise<string> {
    const { directory, reader } = this.#store;
    const found = await directory?.mentions({ room, limit: 1 });
    const [message] = found && "ok" in found ? found.messages : [];
    const labelOf = (id: string): string | undefined => (id === reader.user ? bare(reader.name) : undefined);
    return message
      ? `${named(message.name)}: ${lineOf(relabelled(message.content, labelledIn(message.content, labelOf)))}`
      : "";
  }
}
