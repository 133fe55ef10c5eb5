// A room with rules of its own (`beforePost`), whose decisions a test gives when it wants.
import { setImmediate } from "node:timers/promises";

import type { ChatSettings } from "../../src/chat/room/room.ts";
import type { PostContext, PostDraft, PostRules, PostVerdict } from "../../src/chat/room/post-decision.ts";
import { ChatRoom, UNLIMITED } from "./chat-room.ts";

/** One question to the rules. */
export interface Asked {
  readonly message: PostDraft;
  readonly context: PostContext;
  /** Gives the decision; absent: accepts. */
  readonly decide: (decision?: PostVerdict) => Promise<void>;
  readonly fail: (error: Error) => Promise<void>;
}

export class RuledRoom extends ChatRoom {
  readonly asked: Asked[];
  /** Questions with these contents are answered at once: by a decision, or by a function that makes one. */
  readonly #sync: Map<string, PostVerdict | (() => PostVerdict)>;

  constructor({ rules = {}, ...settings }: Partial<ChatSettings> & { rules?: Partial<PostRules> } = {}) {
    const asked: Asked[] = [];
    const sync = new Map<string, PostVerdict | (() => PostVerdict)>();
    const beforePost = (message: PostDraft, context: PostContext): PostVerdict | Promise<PostVerdict> => {
      const { promise, resolve, reject } = Promise.withResolvers<PostVerdict>();
      asked.push({
        message,
        context,
        decide: async (decision) => {
          resolve(decision);
          await setImmediate();
        },
        fail: async (error) => {
          reject(error);
          await setImmediate();
        },
      });
      if (!sync.has(message.content)) return promise;
      const decision = sync.get(message.content);
      return typeof decision === "function" ? decision() : decision;
    };
    super(
      { messageRate: UNLIMITED, flushWindowMs: 0, ...settings },
      {},
      { rules: () => ({ beforePost, timeoutMs: 5000, onFailure: "refuse", ...rules }) },
    );
    this.asked = asked;
    this.#sync = sync;
  }

  /** Lets the rules answer at once whenever they are asked about that text. */
  answerAtOnce(content: string, decision: PostVerdict | (() => PostVerdict)): void {
    this.#sync.set(content, decision);
  }

  /** The only question about that text. */
  about(content: string): Asked {
    const found = this.asked.filter(({ message }) => message.content === content);
    if (found.length !== 1) throw new Error(`the rules were asked ${found.length} times about "${content}"`);
    return found[0]!;
  }

  get contents(): string[] {
    return this.log.messages.map(({ content }) => content);
  }
}
