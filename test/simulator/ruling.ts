// Checks a room's moderation hook: rejected posts are nowhere, replaced ones are stored with their replacement, and the rules
// are asked once about each post, in the room's present incarnation. Called by rules.ts, deployment.ts, verdict.ts and
// silence.ts.
import type { Message } from "../../src/protocol/chat-events.ts";
import { EDITED } from "./changes.ts";
import type { ObjectInstance } from "../kit/simulation.ts";
import type { Witness } from "./witness.ts";

/** The reaction of the rules to a text. `throw` and `never` fail once; about the next try the rules accept. */
export type RuleKind = "accept" | "reject" | "replace" | "throw" | "never" | "post";

/** The room waits no longer for a decision, and counts the rules as failed. */
const DECIDED_MS_MAX = 5000;

/** The user as whom the rules post. */
export const RULE_USER = "rule";

const MILD = " (mild)";

/** The replacement that the rules give for a text. */
export const mildFor = (content: string): string => content + MILD;

interface Question {
  readonly instance: ObjectInstance;
  readonly room: string;
  /** The text of a post, or the message that is edited. */
  readonly key: string;
  readonly kind: RuleKind;
  /** Names the post over all its tries, where it has a `clientMsgId`. */
  readonly postId: string | undefined;
}

/** A question to the rules, and their reaction. */
export interface Asked extends Question {
  readonly does: RuleKind;
  /** In ms since the run began, as all times here. */
  readonly askedAtMs: number;
  /** How often the room had been deleted. */
  readonly life: number;
  decidedAtMs: number | undefined;
  /** The same by the clock of the room, in ms since 1970. */
  decidedRoomMs: number | undefined;
  /** The clock of the room jumped since, so its time may have been over at any moment. */
  isExcused: boolean;
}

export class Ruling {
  readonly #witness: Witness;
  readonly #last = new Map<string, Asked>();
  readonly #lives = new Map<string, number>();
  #onFailure: "refuse" | "accept" | undefined;

  constructor(witness: Witness) {
    this.#witness = witness;
  }

  begin(onFailure: "refuse" | "accept"): void {
    this.#onFailure = onFailure;
  }

  deleted(instance: ObjectInstance, room: string): void {
    this.#lives.set(room, this.#lifeOf(room) + 1);
    for (const asked of this.#last.values()) if (asked.instance === instance) asked.isExcused = true;
  }

  clockJumped(room: string): void {
    for (const asked of this.#last.values()) if (asked.room === room) asked.isExcused = true;
  }

  #lifeOf(room: string): number {
    return this.#lives.get(room) ?? 0;
  }

  asked(question: Question): Asked {
    const { instance, room, key, kind, postId } = question;
    const place = `${room} ${key}`;
    const before = this.#last.get(place);
    // A rule that posts waits for the room, which may store the post too late for it.
    const isLate = before && (before.decidedAtMs ?? this.#witness.now()) - before.askedAtMs >= DECIDED_MS_MAX;
    const hasFailed = isLate || before?.does === "throw" || before?.does === "never";
    const isAgain = postId !== undefined && before?.instance === instance && !before.isExcused;
    this.#witness.demand(!isAgain || hasFailed, "ruled", () => `${room} asked about "${key}" twice`);
    const fails = kind === "throw" || kind === "never";
    const does = fails && before ? "accept" : kind;
    const asked: Asked = {
      ...question,
      does,
      askedAtMs: this.#witness.now(),
      life: this.#lifeOf(room),
      decidedAtMs: undefined,
      decidedRoomMs: undefined,
      isExcused: false,
    };
    this.#last.set(place, asked);
    return asked;
  }

  /** @param roomMs the clock of the room */
  decided(asked: Asked, roomMs: number): void {
    asked.decidedAtMs = this.#witness.now();
    asked.decidedRoomMs = roomMs;
  }

  /** The last question about a post. */
  askedAbout(room: string, content: string): Asked | undefined {
    return this.#last.get(`${room} ${content}`);
  }

  /** The text as it was said. */
  said(content: string): string {
    return content.endsWith(MILD) ? content.slice(0, -MILD.length) : content;
  }

  /** A room has just written a message, which is not durable yet. @returns the same with the text that was said */
  stored(room: string, message: Message): Message {
    const content = this.said(message.content);
    if (this.#onFailure === undefined || message.origin || content === "") return { ...message, content };
    const asked = this.#last.get(`${room} ${content}`);
    const demand = (isTrue: boolean, problem: string): void =>
      this.#witness.demand(isTrue, "ruled", () => `${room} has "${message.content}", ${problem}`);
    demand(asked !== undefined, "about which the rules were not asked");
    if (!asked) return { ...message, content };
    demand(asked.life === this.#lifeOf(room), "which was said before the room was deleted");
    // Where the rules fail, it may be accepted unseen.
    if (this.#onFailure === "accept" && asked.isExcused) return { ...message, content };
    demand(asked.does !== "reject", "which the rules rejected");
    demand((asked.does === "replace") === (content !== message.content), `and the rules ${asked.does} that`);
    return { ...message, content };
  }

  /** An edit of the message was acked. */
  edited({ id, room }: Message): void {
    if (this.#onFailure === undefined) return;
    const asked = this.#last.get(`${room} edit ${id}`);
    this.#witness.demand(asked !== undefined, "ruled", () => `${room} took an edit of ${id} without asking the rules`);
  }

  /** @param message as a room shows it in the end */
  shown({ id, room, content, origin }: Message): void {
    if (this.#onFailure !== "refuse" || origin) return;
    const asked = this.#last.get(content === EDITED ? `${room} edit ${id}` : `${room} ${this.said(content)}`);
    const isRejected = asked?.does === "reject";
    this.#witness.demand(!isRejected, "ruled", () => `${room} shows "${content}", which the rules rejected`);
  }
}
