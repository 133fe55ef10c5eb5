// A room with a moderator, for the tests of moderation.
import { expect } from "vitest";

import type { ChatSettings } from "../../src/chat/room/room.ts";
import { ChatRoom, UNLIMITED } from "./chat-room.ts";
import type { Client } from "./harness.ts";

export const SERVICE = { user: "backend", role: "service" } as const;
export const OK = { ok: true };

export const refusalOf = (code: string): object => ({
  error: expect.objectContaining({ code, message: expect.any(String) }),
});

export interface Cast {
  readonly room: ChatRoom;
  /** A moderator by token. */
  readonly mia: Client;
  readonly ada: Client;
  readonly ben: Client;
}

export async function cast(settings: Partial<ChatSettings> = {}): Promise<Cast> {
  // A post is answered at once, unless the test is about waiting.
  const room = new ChatRoom({ messageRate: UNLIMITED, flushWindowMs: 0, ...settings });
  const mia = await room.join({ user: "mia", role: "moderator" });
  const [ada, ben] = [await room.join("ada"), await room.join("ben")];
  room.quiet();
  return { room, mia, ada, ben };
}

/** A user whom the room made a moderator. */
export async function withGranted(given: Cast): Promise<Cast & { readonly gil: Client }> {
  const gil = await given.room.join("gil");
  expect(await given.mia.ask("grant", { user: "gil", role: "moderator" })).toEqual(OK);
  return { ...given, gil };
}

let posts = 0;

export const post = (client: Client): Promise<unknown> => client.ask("chat-message", { content: `post ${++posts}` });

/** Sleep and waking in the middle of everything. */
export function sleep({ shell }: ChatRoom): void {
  shell.advance(1000);
  shell.evict();
}
