// Webhooks from end to end in workerd: a room, a real queue, the Worker's consumer; and what they cost.
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import type { WebhookDelivery, WebhookEvent } from "../../src/protocol/webhook-events.ts";
import { freshRoom, join, Sleeper, useSettings } from "./rooms.ts";
import { rowsWritten } from "./rows-written.ts";

useSettings({ WEBHOOK_URL: "https://hooks.example.com/", WEBHOOK_SECRET: "only-we-two-know" });

const told: WebhookEvent[] = [];
beforeAll(() => {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (_url, init) => {
    told.push(...(JSON.parse(init!.body as string) as WebhookDelivery).events);
    return new Response(null);
  });
});
afterAll(() => vi.restoreAllMocks());

const typesOf = (room: string): string[] => told.filter((event) => event.room === room).map(({ type }) => type);

const isTold = (room: string, type: WebhookEvent["type"], count = 1): Promise<void> =>
  vi.waitFor(() => expect(typesOf(room).filter((other) => other === type)).toHaveLength(count), { timeout: 15_000 });

it("HOOK-1, HOOK-4: what happens in a room arrives at the receiver, through sleep", async () => {
  const room = freshRoom();
  const sleeper = new Sleeper(room);
  const ada = await join(room, "ada");
  await isTold(room, "member.joined");
  await sleeper.sleep();
  const { id } = await ada.ask<{ id: string }>("chat-message", { content: "helo" });
  await ada.ask("edit-message", { id, content: "hello" });
  await isTold(room, "message.edited");
  await sleeper.sleep();
  await ada.ask("delete-message", { id });
  await isTold(room, "message.deleted");
  ada.close();
  await isTold(room, "room.vacated");
  expect(typesOf(room)).toEqual([
    "room.occupied",
    "member.joined",
    "message.posted",
    "message.edited",
    "message.deleted",
    "member.left",
    "room.vacated",
  ]);
});

it("HOOK-6: what they cost in rows", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  await isTold(room, "member.joined");
  let [posted, edited] = [0, 0];
  const one = await rowsWritten(room, async () => {
    await ada.ask("chat-message", { content: "first" });
    await isTold(room, "message.posted", ++posted);
  });
  const { id } = await ada.ask<{ id: string }>("chat-message", { content: "second" });
  await isTold(room, "message.posted", ++posted);
  const edit = await rowsWritten(room, async () => {
    await ada.ask("edit-message", { id, content: "2nd" });
    await isTold(room, "message.edited", ++edited);
  });
  console.log(JSON.stringify({ one, edit }));
  delete (env as Record<string, unknown>)["nothing"];
});
