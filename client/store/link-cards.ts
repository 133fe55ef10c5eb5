// The link cards of a room: what the pages say of themselves that its messages link to. Asks the server for each once, as it is drawn.
// room-parts.ts owns it.
import type { LinkCard } from "../../src/protocol/schemas/link-card.ts";
import type { FileError, Room } from "../core/api.ts";
import type { Clock } from "../core/clock.ts";
import { type Block, blocksOf, type Inline } from "./markup.ts";

/** The server fetches so many for a user (CARD-6), pictures among them. */
const AT_A_TIME = 4;
/** The store keeps so many, and asks for so many later: a list that is scrolled far may have thousands. It forgets the oldest until they are drawn again. */
export const CARDS_MAX = 500;
export const WAITING_MAX = 50;
/** The wait after a failure. */
const REST_MS = 30_000;
/** The server will not say anything else of that address. */
const FINAL = new Set(["INVALID_PAYLOAD", "FORBIDDEN", "NOT_FOUND"]);

interface LinkCardsPorts {
  readonly room: Pick<Room, "linkCard">;
  readonly clock: Clock;
  /** Whether the server has link cards; `undefined` before the welcome. */
  readonly isOn: () => boolean | undefined;
  readonly changed: () => void;
}

export class LinkCards {
  readonly #ports: LinkCardsPorts;
  readonly #cards = new Map<string, LinkCard | null | undefined>();
  readonly #waiting: string[] = [];
  #underWay = 0;

  constructor(ports: LinkCardsPorts) {
    this.#ports = ports;
  }

  /** @returns `null` for an address without a card, `undefined` until it is known */
  of(url: string): LinkCard | null | undefined {
    const isOn = this.#ports.isOn();
    if (!isOn) return isOn === undefined ? undefined : null;
    if (!this.#cards.has(url)) {
      this.#cards.set(url, undefined);
      this.#waiting.push(url);
      this.#goOn();
      if (this.#waiting.length > WAITING_MAX) this.#cards.delete(this.#waiting.shift()!);
      if (this.#cards.size > CARDS_MAX) this.#cards.delete(this.#cards.keys().next().value!);
    }
    return this.#cards.get(url);
  }

  /** The last ones first: those are in view now. */
  #goOn(): void {
    while (this.#underWay < AT_A_TIME && this.#waiting.length > 0) {
      this.#underWay++;
      void this.#fetch(this.#waiting.pop()!);
    }
  }

  async #fetch(url: string): Promise<void> {
    const { room, clock, changed } = this.#ports;
    try {
      this.#cards.set(url, (await room.linkCard(url)) ?? null);
      changed();
    } catch (error) {
      if (FINAL.has((error as FileError).code)) {
        this.#cards.set(url, null);
        changed();
      } else clock.after(REST_MS, () => this.#cards.delete(url));
    }
    this.#underWay--;
    this.#goOn();
  }
}

/** The first link to a web page in a message, outside code and quotes: the one whose card is shown. */
export function linkIn(content: string, mentions: readonly string[] = []): string | undefined {
  return firstLink(blocksOf(content, mentions).flatMap(wordsOf));
}

function wordsOf(block: Block): readonly Inline[] {
  if (block.kind === "list")
    return block.items.flatMap(({ children, lists }) => [...children, ...lists.flatMap(wordsOf)]);
  return block.kind === "text" ? block.children : [];
}

function firstLink(nodes: readonly Inline[]): string | undefined {
  for (const node of nodes) {
    const found = node.kind === "link" ? node.href : "children" in node ? firstLink(node.children) : undefined;
    if (found !== undefined && /^https?:/.test(found)) return found;
  }
  return undefined;
}
