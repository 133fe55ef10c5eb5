// Checks edits, deletions and reactions: compares requests and answers with the messages' final state.
import type { Message } from "../../src/protocol/chat-events.ts";
import type { Person } from "./people.ts";
import type { Witness } from "./witness.ts";

export type ChangeEvent = "edit-message" | "delete-message" | "react";

/** What everybody says who edits, and what everybody reacts with. */
export const EDITED = "edited";
export const EMOJI = "👍";

const TOLD_BY: Readonly<Record<string, ChangeEvent>> = {
  "message-edited": "edit-message",
  "message-deleted": "delete-message",
  reaction: "react",
};

/** What is known of one message. */
interface Known {
  /** Asked for, whatever came of it. */
  readonly asked: Set<ChangeEvent>;
  /** Answered with `ok`. */
  readonly done: Set<ChangeEvent>;
  readonly reacted: Set<string>;
  /** Told to anybody. */
  readonly told: Set<ChangeEvent>;
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
      this.#byId.set(id, (known = { asked: new Set(), done: new Set(), reacted: new Set(), told: new Set() }));
    return known;
  }

  /** A person asks. @returns what hears the answer */
  ask({ plan }: Person, event: ChangeEvent, message: Message): (answer: unknown) => void {
    const known = this.#of(message.id);
    known.asked.add(event);
    // What a poll was to bring, and brought nobody, cannot be seen from here.
    if (plan.kind === "polling" || plan.kind === "upgrading") known.told.add(event);
    return (answer) => {
      if (!(answer as { readonly ok?: true } | undefined)?.ok) return;
      known.done.add(event);
      if (event === "react") known.reacted.add(plan.user);
      const { id, sender } = message;
      this.#witness.demand(
        event === "react" || sender === plan.user,
        "let in",
        () => `${plan.name} was allowed to ${event} ${id}, which ${sender} said`,
      );
      this.#witness.demand(
        known.told.has(event),
        "changed for all",
        () => `${plan.name} was told that its ${event} of ${id} is done, and nobody was told of it`,
      );
    };
  }

  mayBeDeleted(id: string): boolean {
    return this.#byId.get(id)?.asked.has("delete-message") === true;
  }

  /** What leaves a room. */
  spoken(packet: string): void {
    const [, name] = /^42\["([a-z-]+)"/.exec(packet) ?? [];
    const event = name === undefined ? undefined : TOLD_BY[name];
    if (event === undefined) return;
    const [, { id }] = JSON.parse(packet.slice(2)) as [string, { readonly id: string }];
    this.#of(id).told.add(event);
  }

  /**
   * @param copy as a room shows it in the end, of a message that another room was told of all changes to
   * @param root the message itself
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
