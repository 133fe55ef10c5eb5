// The part of the room's storage that belongs to one feature (OWN-7): its keys begin with its name. Made by custom-room.ts.
import type { FeatureState, StoredPages } from "../../extension/extension.ts";
import { PagedMap, pagesIn } from "../../storage/paged-map.ts";
import type { RoomState } from "../../storage/room-state.ts";

/** All keys of custom features begin with it, and none of the chat's does. */
export const CUSTOM_KEYS = "own:";

export class CustomState implements FeatureState {
  readonly #state: RoomState;
  readonly #nameOf: () => string;
  #isOver = false;

  /** @param nameOf the name of the feature, whose constructor may be running still */
  constructor(state: RoomState, nameOf: () => string) {
    this.#state = state;
    this.#nameOf = nameOf;
  }

  /** The room is deleted: later writes would get into the next one. */
  end(): void {
    this.#isOver = true;
  }

  get #prefix(): string {
    const name = this.#nameOf();
    if (name === undefined) throw new Error("the feature has no `name` yet: set it before you use `room.state`");
    return `${CUSTOM_KEYS}${name}:`;
  }

  get #writable(): RoomState {
    if (this.#isOver) throw new Error("the room was deleted meanwhile");
    return this.#state;
  }

  get(key: string): unknown {
    return this.#isOver ? undefined : this.#state.get(this.#prefix + key);
  }

  put(key: string, value: unknown): void {
    this.#writable.put(this.#prefix + key, value);
  }

  delete(key: string): void {
    this.#writable.delete(this.#prefix + key);
  }

  *list({ prefix = "", startAfter, limit }: Parameters<FeatureState["list"]>[0] = {}): Iterable<[string, unknown]> {
    if (this.#isOver) return;
    const ofFeature = this.#prefix;
    const listed = this.#state.list({
      prefix: ofFeature + prefix,
      ...(startAfter !== undefined && { startAfter: ofFeature + startAfter }),
      ...(limit !== undefined && { limit }),
    });
    for (const [key, value] of listed) yield [key.slice(ofFeature.length), value];
  }

  pages<Value>(name: string, pagesMax?: number): StoredPages<Value> {
    return new PagedMap<Value>(
      pagesIn(
        {
          get: (key) => this.get(key),
          put: (key, value) => this.put(key, value),
          delete: (key) => this.delete(key),
          list: (options) => this.list(options),
        },
        `${name}:`,
      ),
      pagesMax,
    );
  }
}
