// Webhooks from end to end in workerd: a room, a real queue, the Worker's consumer. Their costs are those of test/features/webhooks.
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import type { WebhookDelivery, WebhookEvent } from "../../src/protocol/webhook-events.ts";
import { freshRoom, join, Sleeper, stubOf, useSettings } from "./rooms.ts";

useSettings({ WEBHOOK_URL: "https://hooks.example.com/", WEBHOOK_SECRET: "only-we-two-know" });

const received: WebhookEvent[] = [];
beforeAll(() => {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (_url, init) => {
    received.push(...(JSON.parse(init!.body as string) as WebhookDelivery).events);
    return new Response(null);
  });
});
afterAll(() => vi.restoreAllMocks());

const typesOf = (room: string): string[] => received.filter((event) => event.room === room).map(({ type }) => type);

const isTold = (room: string, type: WebhookEvent["type"]): Promise<void> =>
  vi.waitFor(() => expect(typesOf(room)).toContain(type));

it("HOOK-1, HOOK-4, HOOK-5: events of a room reach the receiver, through sleep, to the end of the room", async () => {
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
  await stubOf(room).deleteRoom();
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
