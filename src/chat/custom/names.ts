// The names that custom features may use: of features, of events and of fields of `welcome` (OWN-2). Called by custom-features.ts
// and facts.ts.
import { isReservedEvent } from "../../protocol/announcement.ts";
import { CHAT_EVENTS, type Welcome } from "../../protocol/chat-events.ts";
import { UPLOAD } from "../room/operation.ts";

const FEATURE_NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** They stand in addresses, and as labels in metrics. */
const EVENT_NAME = /^[A-Za-z][\w.-]{0,63}$/;

/** Names of numbers in the list of rooms. */
export const FACT_NAME = /^[A-Za-z][\w-]{0,31}$/;

/** Fields that the chat fills, also where a room leaves one out. The compiler reports a missing one. */
const WELCOME_FIELDS: Readonly<Record<keyof Welcome, true>> = {
  room: true,
  user: true,
  name: true,
  role: true,
  epoch: true,
  lastId: true,
  lastSeq: true,
  now: true,
  rests: true,
  direct: true,
  linkCards: true,
  threads: true,
  settings: true,
  rev: true,
  files: true,
  readSeq: true,
  unread: true,
  keptUnread: true,
  typing: true,
  typingCount: true,
  presence: true,
  moderation: true,
};

/** Events that clients send to the chat itself. */
const OF_CHAT: ReadonlySet<string> = new Set(CHAT_EVENTS.map(({ name }) => name));

/** The names of a feature that fits. */
export interface Named {
  readonly name: string;
  readonly events: readonly string[];
  readonly sends: readonly string[];
}

/** The names in use so far. */
export class NamesInUse {
  readonly #features = new Set<string>();
  /** Each event with the feature that clients send it to, and likewise for those that are sent to clients. */
  readonly #taken = new Map<string, string>();
  readonly #sent = new Map<string, string>();
  /** Fields of `welcome`, with the feature that fills each. */
  readonly #fields = new Map<string, string>();

  /** Takes the names of a feature. @returns why it cannot have them; then it has none */
  take({ name, events, sends }: Named): string | undefined {
    if (typeof name !== "string" || !FEATURE_NAME.test(name))
      return "its `name` must be a lower-case letter and up to 31 of a-z, 0-9 and -";
    if (this.#features.has(name)) return "another feature has its name";
    for (const event of events) {
      const problem = this.#problemOf(event, this.#taken);
      if (problem) return `its event "${event}" ${problem}`;
    }
    for (const event of sends) {
      const problem = this.#problemOf(event, this.#sent);
      if (problem) return `the event "${event}" that it sends ${problem}`;
    }
    this.#features.add(name);
    for (const event of events) this.#taken.set(event, name);
    for (const event of sends) this.#sent.set(event, name);
    return undefined;
  }

  #problemOf(event: string, others: ReadonlyMap<string, string>): string | undefined {
    if (!EVENT_NAME.test(event)) return "has a name that is not a letter and up to 63 of A-Z, a-z, 0-9, _, - and .";
    if (OF_CHAT.has(event) || isReservedEvent(event) || event === UPLOAD)
      return "has the name of one of the chat's own or of Socket.IO's";
    const other = others.get(event);
    return other === undefined ? undefined : `is one of the feature "${other}" already`;
  }

  /** Whether a feature sends an event of that name. */
  isSent(event: string): boolean {
    return this.#sent.has(event);
  }

  /** Whether a feature takes an event of that name. */
  isTaken(event: string): boolean {
    return this.#taken.has(event);
  }

  /** Takes a field of `welcome`. @returns why the feature cannot fill it */
  takeField(feature: string, field: string): string | undefined {
    if (Object.hasOwn(WELCOME_FIELDS, field)) return `the field "${field}" of \`welcome\` is the chat's own`;
    const other = this.#fields.get(field) ?? feature;
    this.#fields.set(field, other);
    return other === feature ? undefined : `the field "${field}" of \`welcome\` is the feature "${other}"'s`;
  }
}
