// Sends the reader's actions on messages and people, besides posting, and reports refusals in words. The room view owns it.
import type { ActionPayload, ModerationAction, ModerationStateAnswer } from "../../../src/protocol/chat-events.ts";
import type { Room } from "../../core/api.ts";
import { describeFailure, isOut, settled } from "./room-answers.ts";

interface ActionPorts {
  readonly room: Room;
  readonly failed: (text: string) => void;
}

export class Actions {
  readonly #room: Room;
  readonly #failed: (text: string) => void;

  constructor({ room, failed }: ActionPorts) {
    this.#room = room;
    this.#failed = failed;
  }

  /** @returns the reason for a refusal, which the caller shows; empty on success */
  edit(id: string, content: string): Promise<string> {
    return this.#problemOf(() => this.#room.ask("edit-message", { id, content }));
  }

  /** @returns whether it was done; if not, the reader sees the reason */
  remove(id: string): Promise<boolean> {
    return this.#done("The message was not deleted", () => this.#room.ask("delete-message", { id }));
  }

  react(id: string, emoji: string, on: boolean): Promise<boolean> {
    return this.#done("The reaction was not set", () => this.#room.ask("react", { id, emoji, on }));
  }

  moderate<Action extends ModerationAction>(action: Action, payload: ActionPayload<Action>): Promise<boolean> {
    // All of these events are answered alike.
    return this.#done("That was not done", () => this.#room.ask(action as "kick", payload as ActionPayload<"kick">));
  }

  async moderated(): Promise<ModeratedPage | undefined> {
    const answer = await settled(this.#room.ask("moderation-state", {}));
    if ("ok" in answer) return answer;
    this.#failed(`The list could not be loaded. ${describeFailure(answer.error)}`);
    return undefined;
  }

  async #done(what: string, ask: () => Promise<object>): Promise<boolean> {
    const problem = await this.#problemOf(ask);
    if (problem !== "") this.#failed(`${what}. ${problem}`);
    return problem === "";
  }

  async #problemOf(ask: () => Promise<object>): Promise<string> {
    // Without a connection the request would wait and might be sent long after.
    if (isOut(this.#room)) return "There is no connection to the room.";
    const answer = await settled(ask());
    return "error" in answer ? describeFailure(answer.error) : "";
  }
}

type ModeratedPage = Extract<ModerationStateAnswer, { readonly ok: true }>;
