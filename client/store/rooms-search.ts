// A search over a user's rooms as state: what each room has found so far, and how many rooms are left. createRoomsSearch is for applications; the
// page and the hook useRoomsSearch draw it.
import type { SearchPayload } from "../../src/protocol/chat-events.ts";
import type { FoundIn } from "../../src/protocol/schemas/found-in.ts";
import { ROOMS_SEARCHED, type OwnRooms, type RoomsQuery } from "../core/own-rooms.ts";

/** What is looked for: words, or more than words. */
export type Sought = string | Omit<SearchPayload, "before">;

export interface RoomsSearchState {
  /** `undefined` before the first search. */
  readonly sought: Sought | undefined;
  /** Of each room that has answered, those with the newest messages first. Rooms in which nothing was found are among them. */
  readonly found: readonly FoundIn[];
  readonly isBusy: boolean;
  /** Rooms that this search has not asked: `more` asks the next ones. */
  readonly left: number;
}

export interface RoomsSearch {
  readonly getSnapshot: () => RoomsSearchState;
  /** Calls the listener after changes. @returns a function that ends it */
  readonly subscribe: (listener: () => void) => () => void;
  /** Asks the 20 rooms with the newest messages, for another query. Resolves when they have answered. No method here rejects. */
  search(sought: Sought): Promise<void>;
  /** Goes on with the next 20 rooms. */
  more(): Promise<void>;
  /** Finds older messages in a room whose answer `hasMore`. */
  moreIn(room: string): Promise<void>;
  /** Asks the rooms again that could not be searched. */
  retry(): Promise<void>;
  /** Asks no more rooms; what was found stays. */
  stop(): void;
}

/** @param rooms the rooms to search, those with the newest messages first; default: those that `own` follows */
export const createRoomsSearch = (
  own: Pick<OwnRooms, "search" | "getSnapshot">,
  rooms: () => readonly string[] | undefined = () => own.getSnapshot()?.map(({ room }) => room),
): RoomsSearch => new StoredSearch(own, rooms);

const NOTHING: RoomsSearchState = { sought: undefined, found: [], isBusy: false, left: 0 };
/** Messages of a room of which more are wanted. */
const MORE_LIMIT = 20;

class StoredSearch implements RoomsSearch {
  readonly #own: Pick<OwnRooms, "search">;
  readonly #rooms: () => readonly string[] | undefined;
  readonly #listeners = new Set<() => void>();
  #state = NOTHING;
  /** Rooms that are not asked yet; `undefined` while nobody has said which rooms there are. */
  #left: readonly string[] | undefined;
  /** Rooms that are being asked. */
  #asked: readonly string[] = [];
  #running = new AbortController();

  constructor(own: Pick<OwnRooms, "search">, rooms: () => readonly string[] | undefined) {
    this.#own = own;
    this.#rooms = rooms;
  }

  readonly getSnapshot = (): RoomsSearchState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    const one = (): void => listener();
    this.#listeners.add(one);
    return () => void this.#listeners.delete(one);
  };

  search(sought: Sought): Promise<void> {
    this.#asked = [];
    this.#left = this.#rooms();
    this.#state = { ...NOTHING, sought };
    return this.more();
  }

  more(): Promise<void> {
    this.stop();
    if (!this.#left) return this.#ask({});
    const rooms = this.#left.slice(0, ROOMS_SEARCHED);
    this.#left = this.#left.slice(rooms.length);
    return this.#ask({ rooms });
  }

  moreIn(room: string): Promise<void> {
    const known = this.#state.found.find((one) => one.room === room);
    if (!known || "error" in known) return this.retry();
    this.stop();
    return this.#ask({ rooms: [room], before: known.before, limit: MORE_LIMIT });
  }

  retry(): Promise<void> {
    this.stop();
    return this.#ask({ rooms: this.#state.found.filter((one) => "error" in one).map(({ room }) => room) });
  }

  stop(): void {
    this.#running.abort();
    this.#end();
  }

  #end(): void {
    const known = new Set(this.#state.found.map(({ room }) => room));
    const all = this.#left ? [...this.#asked, ...this.#left] : this.#rooms();
    this.#left = all?.filter((room) => !known.has(room));
    this.#asked = [];
    this.#set({ isBusy: false });
  }

  async #ask(query: Pick<RoomsQuery, "rooms" | "before" | "limit">): Promise<void> {
    const { sought = "" } = this.#state;
    this.#running.abort();
    const { signal } = (this.#running = new AbortController());
    this.#asked = query.rooms ?? [];
    this.#set({ isBusy: true });
    const given = typeof sought === "string" ? { query: sought } : sought;
    for await (const one of this.#own.search({ ...given, ...query, signal })) {
      if (signal.aborted) return;
      this.#set({ found: withFound(this.#state.found, one, query.before !== undefined) });
    }
    if (!signal.aborted) this.#end();
  }

  #set(changed: Partial<RoomsSearchState>): void {
    this.#state = { ...this.#state, ...changed, left: this.#left?.length ?? 0 };
    for (const listener of this.#listeners) listener();
  }
}

/** @param isOlder whether it goes on from what the room had found: a failure leaves that as it is */
function withFound(found: readonly FoundIn[], one: FoundIn, isOlder: boolean): readonly FoundIn[] {
  const at = found.findIndex(({ room }) => room === one.room);
  const before = found[at];
  if (!before) return [...found, one];
  if (!isOlder || "error" in before) return found.with(at, one);
  return "error" in one ? found : found.with(at, { ...one, messages: [...before.messages, ...one.messages] });
}
