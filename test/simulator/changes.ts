// Checks edits, deletions and reactions: compares requests and answers with the messages' final state. Called by run.ts, witness.ts and
// verdict.ts.
import type { Message } from "../../src/protocol/chat-events.ts";
import { epochOf } from "./offset.ts";
import type { Person } from "./person.ts";
import type { Witness } from "./witness.ts";

export type ChangeEvent = "edit-message" | "delete-message" | "react";

/** The content of all edits, and the emoji of all reactions. */
export const EDITED = "edited";
export const EMOJI = "👍";

const ANNOUNCED_BY: Readonly<Record<string, ChangeEvent>> = {
  "message-edited": "edit-message",
  "message-deleted": "delete-message",
  reaction: "react",
};

/** The requests and answers about one message. */
interface Known {
  /** Requests, accepted or not. */
  readonly asked: Set<ChangeEvent>;
  /** Answered with `ok`. */
  readonly done: Set<ChangeEvent>;
  readonly reacted: Set<string>;
  /** Announced to at least one member. */
  readonly announced: Set<ChangeEvent>;
}

export class Changes {
  readonly #witness: Witness;
  readonly #byId = new Map<string, Known>();

  constructor(witness: Witness) {
    this.#witness = witness;
  }

  #of(id: string): Known {
    let known = this.#byId.get(id);
    if (!known)
      this.#byId.set(id, (known = { asked: new Set(), done: new Set(), reacted: new Set(), announced: new Set() }));
    return known;
  }

  /** Notes the request of a person. @returns called with the answer */
  noteRequest(person: Person, event: ChangeEvent, message: Message): (answer: unknown) => void {
    const { plan } = person;
    const known = this.#of(message.id);
    known.asked.add(event);
    const epoch = epochOf(message.id);
    const restores = this.#witness.restoresOf(epoch);
    // This check cannot see the packets of a poll that never arrived.
    if (person.isAway || plan.kind === "polling" || plan.kind === "upgrading") known.announced.add(event);
    return (answer) => {
      if (!(answer as { readonly ok?: true } | undefined)?.ok || this.#witness.restoresOf(epoch) > restores) return;
      known.done.add(event);
      if (event === "edit-message") this.#witness.ruling.edited(message);
      if (event === "react") known.reacted.add(plan.user);
      const { id, sender } = message;
      this.#witness.demand(
        event === "react" || sender === plan.user,
        "let in",
        () => `${plan.name} was allowed to ${event} ${id}, which ${sender} posted`,
      );
      this.#witness.demand(
        // Who looks away meanwhile gets the answer alone.
        known.announced.has(event) || person.isAway,
        "changed for all",
        () => `${plan.name} got an ack for its ${event} of ${id}, which was announced to nobody`,
      );
    };
  }

  /** A backup was restored, which may lack later changes. */
  restored(epoch: string): void {
    for (const [id, { done, reacted }] of this.#byId) {
      if (epochOf(id) !== epoch) continue;
      done.clear();
      reacted.clear();
    }
  }

  /** A moderator asks for the deletion of a message. */
  mayDelete(id: string): void {
    this.#of(id).asked.add("delete-message");
  }

  mayBeDeleted(id: string): boolean {
    return this.#byId.get(id)?.asked.has("delete-message") === true;
  }

  /** Notes an event that a room sends. */
  spoken(packet: string): void {
    const [, name] = /^42\["([a-z-]+)"/.exec(packet) ?? [];
    const event = name === undefined ? undefined : ANNOUNCED_BY[name];
    if (event === undefined) return;
    const [, { id }] = JSON.parse(packet.slice(2)) as [string, { readonly id: string }];
    this.#of(id).announced.add(event);
  }

  /**
   * @param copy a message in a linked room, as that room shows it in the end
   * @param root the original message
   */
  checkCopy(copy: Message, root: Message): void {
    const { done } = this.#of(root.id);
    if (this.#of(copy.id).asked.size > 0) return;
    const isRight = done.has("delete-message")
      ? copy.deleted === true
      : copy.deleted === true || !done.has("edit-message") || copy.content === EDITED;
    this.#witness.demand(
      isRight,
      "relayed once",
      () =>
        `${copy.room} ${copy.seq} "${copy.content}" is not as ${root.room} ${root.seq} became: ${[...done].join(", ")}`,
    );
  }

  /** @param message as a room shows it in the end */
  check(message: Message): void {
    const { id, content, deleted, reactions = [], origin } = message;
    const known = this.#of(id);
    const demand = (isTrue: boolean, problem: string): void =>
      this.#witness.demand(isTrue, "changed for all", () => `${id} ${problem}: ${JSON.stringify(message)}`);
    for (const { count, users } of reactions)
      demand(count === users.length && new Set(users).size === count, "counts reactions that nobody made");
    if (known.done.has("delete-message")) return demand(deleted === true && content === "", "was deleted");
    if (origin || known.asked.has("delete-message")) return;
    demand(!deleted, "was deleted by nobody");
    demand(!known.done.has("edit-message") || content === EDITED, "was edited");
    demand(known.asked.has("edit-message") || content !== EDITED, "was edited by nobody");
    const reacted = reactions.find(({ emoji }) => emoji === EMOJI)?.users ?? [];
    for (const user of known.reacted) demand(reacted.includes(user), `lacks the reaction of ${user}`);
  }
}
