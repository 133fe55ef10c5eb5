// What changed while a client was away: it keeps the newest `rev` it was told, and asks what came after (MSG-6); and how
// one message stands now (MSG-10).
import type { ChangesAnswer, ChangesWelcome, MessageAnswer } from "../../protocol/changes-events.ts";
import { withChange } from "../log/change.ts";
import { changesSchema, messageSchema } from "../../protocol/schemas/changes-payloads.ts";
import type { MessageChanges } from "./message-changes.ts";
import { operation } from "../room/operation.ts";
import type { Feature } from "../room/room.ts";

/** What a page takes from the bucket of requests: it looks at everything that ever changed, … */
export const CHANGES_COST = 10;
/** … and one more for so many messages, each of which may stand in another batch. */
export const CHANGES_PER_TOKEN = 5;

export class Changes implements Feature {
  readonly #changes: MessageChanges;
  readonly operations;

  constructor(changes: MessageChanges) {
    this.#changes = changes;
    this.operations = {
      "get-message": operation(messageSchema, (_caller, { id }, reply: (answer: MessageAnswer) => void) => {
        const found = changes.find(id);
        reply("error" in found ? found : { ok: true, message: withChange(found.posted, found.change) });
      }),
      changes: operation(
        changesSchema,
        (_caller, payload, reply: (answer: ChangesAnswer) => void) => reply(changes.after(payload)),
        ({ limit }) => CHANGES_COST + Math.ceil(limit / CHANGES_PER_TOKEN),
      ),
    };
  }

  welcome(): ChangesWelcome {
    return { rev: this.#changes.toldRev };
  }
}
