// Carries out the reader's actions on messages and people, besides posting, and reports refusals in words. The room view owns it.
import {
  type ActionPayload,
  type ModerationAction,
  type ModerationStateAnswer,
  type Outcome,
  type RoomStore,
} from "parley-rooms/client";

import { t } from "./language.ts";
import { describeFailure } from "./room-answers.ts";

interface ActionPorts {
  readonly store: RoomStore;
  readonly failed: (text: string) => void;
}

export class Actions {
  readonly #store: RoomStore;
  readonly #failed: (text: string) => void;

  constructor({ store, failed }: ActionPorts) {
    this.#store = store;
    this.#failed = failed;
  }

  /** @returns the reason for a refusal, which the caller shows; empty on success */
  async edit(id: string, content: string): Promise<string> {
    const outcome = await this.#store.edit(id, content);
    return "error" in outcome ? describeFailure(outcome.error) : "";
  }

  /** @returns whether it was done; if not, the reader sees the reason */
  remove(id: string): Promise<boolean> {
    return this.done(t("The message was not deleted."), this.#store.remove(id));
  }

  react(id: string, emoji: string, on: boolean): Promise<boolean> {
    return this.done(t("The reaction was not set."), this.#store.react(id, emoji, on));
  }

  moderate<Action extends ModerationAction>(action: Action, payload: ActionPayload<Action>): Promise<boolean> {
    return this.done(t("That was not done."), this.#store.moderate(action, payload));
  }

  async moderated(): Promise<ModeratedPage | undefined> {
    const answer = await this.#store.ask("moderation-state", {});
    if ("ok" in answer) return answer;
    this.#failed(`${t("The list could not be loaded.")} ${describeFailure(answer.error)}`);
    return undefined;
  }

  /** @returns the room of the conversation; nothing where the reader sees why there is none */
  async openDirect(user: string): Promise<string | undefined> {
    const answer = await this.#store.ask("open-dm", { user });
    if ("ok" in answer) return answer.room;
    this.#failed(`${t("The conversation was not opened.")} ${describeFailure(answer.error)}`);
    return undefined;
  }

  /**
   * @param not what did not happen then, as a sentence
   * @returns whether it was done; if not, the reader sees the reason
   */
  async done(not: string, acting: Promise<Outcome>): Promise<boolean> {
    const outcome = await acting;
    if ("error" in outcome) this.#failed(`${not} ${describeFailure(outcome.error)}`);
    return "ok" in outcome;
  }
}

type ModeratedPage = Extract<ModerationStateAnswer, { readonly ok: true }>;
