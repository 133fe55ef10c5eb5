// Reading back: pages of the room's log.
import type { HistoryAnswer } from "../protocol/chat-events.ts";
import { operation } from "./operation.ts";
import { historySchema } from "./payloads.ts";
import type { Feature, Room } from "./room.ts";

/** A page takes one token of the request bucket for each so many messages. */
export const HISTORY_PER_TOKEN = 20;

export class History implements Feature {
  readonly operations;

  constructor({ log }: Room) {
    this.operations = {
      history: operation(
        historySchema,
        (_caller, { before, after, limit }, reply: (answer: HistoryAnswer) => void) => {
          const bounds = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
          reply({ ok: true, ...log.page({ limit, ...bounds }) });
        },
        ({ limit }) => Math.ceil(limit / HISTORY_PER_TOKEN),
      ),
    };
  }
}
