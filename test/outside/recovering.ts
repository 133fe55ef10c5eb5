// A stock client that leaves for a moment and recovers what it missed. Called by recovery.test.ts and killed.test.ts.
import type { Socket } from "socket.io-client";
import { expect, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { ask, collect, join, type Options } from "./stock-clients.ts";

const QUICK: Options = { reconnectionDelay: 200, reconnectionDelayMax: 400 };
export const MISSED = ["missed 1", "missed 2", "missed 3"];

export interface Scene {
  readonly ada: Socket;
  readonly heard: Message[];
  readonly id: string;
}

export async function enter(url: string, room: string, options: Options = {}): Promise<Scene> {
  const ada = await join(url, room, "ada", { ...QUICK, ...options });
  const heard = collect<Message>(ada, "chat-message");
  await ask(ada, "chat-message", { content: "heard" });
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  return { ada, heard, id: ada.id! };
}

export async function expectRecovered({ ada, heard, id }: Scene): Promise<void> {
  await vi.waitFor(() => expect(ada.connected).toBe(true), { interval: 20 });
  expect(ada.recovered).toBe(true);
  expect(ada.id).toBe(id);
  expect(await ask(ada, "chat-message", { content: "afterwards" })).toMatchObject({ ok: true });
  await vi.waitFor(() => expect(heard.at(-1)?.content).toBe("afterwards"));
  expect(heard.map(({ content }) => content)).toEqual(["heard", ...MISSED, "afterwards"]);
  expect(heard.map(({ seq }) => seq)).toEqual(heard.map((_, i) => i + 1));
}
