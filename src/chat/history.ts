// Reading back: pages of the room's log.
import type { HistoryAnswer } from "../protocol/chat-events.ts";
import { refuse } from "./answers.ts";
import { operation } from "./operation.ts";
import { historySchema } from "./payloads.ts";
import type { Feature, Room } from "./room.ts";

/** A page takes one token of the request bucket for each so many messages. */
export const HISTORY_PER_TOKEN = 20;

export class History implements Feature {
  readonly operations;

  constructor({ catchUp, read }: Room) {
    this.operations = {
      history: operation(
        historySchema,
        (_caller, { before, after, limit }, reply: (answer: HistoryAnswer) => void) => {
          catchUp();
          const bounds = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
          const page = read((log) => log.page({ limit, ...bounds }));
          reply(page ? { ok: true, ...page } : refuse("INTERNAL", "The history could not be read."));
        },
        ({ limit }) => Math.ceil(limit / HISTORY_PER_TOKEN),
      ),
    };
  }
}
