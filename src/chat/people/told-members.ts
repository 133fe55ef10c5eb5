// Members whom the outside believes to be in the room. Kept, many to a row, so that after a crash those who come back
// are no news, and those who do not are told to have left.
import type { RoomState } from "../room/room-state.ts";

/** Members who share one value, and so one row. */
export const MEMBERS_PER_PAGE = 256;

const PREFIX = "webhook-members:";

/** A stay that the outside was told of. */
export interface ToldStay {
  /** When it began, in milliseconds since 1970. */
  readonly since: number;
  /** While the queue has not said that it took the news, the outside may have heard of it or not. */
  readonly state: "coming" | "here" | "going";
}

type Page = Map<string, ToldStay>;

export class ToldMembers {
  readonly #state: RoomState;
  readonly #pageOf = new Map<string, Page>();
  readonly #keys = new Map<Page, string>();
  /** Pages that are not stored as they are. */
  readonly #unstored = new Set<Page>();

  /** @param isConfirmed whether all that was about to be told has been told since */
  constructor(state: RoomState, isConfirmed: boolean) {
    this.#state = state;
    for (const [key, page] of state.list({ prefix: PREFIX }) as Iterable<[string, Page]>) {
      this.#keys.set(page, key);
      for (const user of page.keys()) this.#pageOf.set(user, page);
    }
    if (isConfirmed) for (const user of this.#pageOf.keys()) this.confirm(user);
  }

  get count(): number {
    return this.#pageOf.size;
  }

  get(user: string): ToldStay | undefined {
    return this.#pageOf.get(user)?.get(user);
  }

  *all(): Iterable<[user: string, stay: ToldStay]> {
    for (const page of this.#keys.keys()) yield* page;
  }

  put(user: string, stay: ToldStay): void {
    const page = this.#pageOf.get(user) ?? this.#pageWithRoom();
    page.set(user, stay);
    this.#pageOf.set(user, page);
    this.#unstored.add(page);
  }

  /** The queue took the news. Not worth a row: told again, it is the same news. */
  confirm(user: string): void {
    const page = this.#pageOf.get(user);
    const stay = page?.get(user);
    if (stay?.state === "coming") page!.set(user, { ...stay, state: "here" });
  }

  delete(user: string): void {
    const page = this.#pageOf.get(user);
    if (!page) return;
    page.delete(user);
    this.#pageOf.delete(user);
    this.#unstored.add(page);
  }

  /** One that is to be written anyway, if there is any. */
  #pageWithRoom(): Page {
    for (const page of [...this.#unstored, ...this.#keys.keys()]) if (page.size < MEMBERS_PER_PAGE) return page;
    const taken = new Set(this.#keys.values());
    let number = 0;
    while (taken.has(`${PREFIX}${number}`)) number++;
    const page: Page = new Map();
    this.#keys.set(page, `${PREFIX}${number}`);
    return page;
  }

  /**
   * Writes one row per page that changed.
   * @throws whatever the storage throws; what was not stored then is tried again the next time
   */
  store(): void {
    for (const page of this.#unstored) {
      const key = this.#keys.get(page)!;
      if (page.size > 0) this.#state.put(key, page);
      else this.#state.delete(key);
      this.#unstored.delete(page);
      if (page.size === 0) this.#keys.delete(page);
    }
  }
}
