// A picture on its way through a room.
import { setTimeout } from "node:timers/promises";

import type { Attachment } from "../../../src/protocol/chat-events.ts";
import { body, good, refused, type Stage } from "../stage.ts";

/** The smallest picture that there is: one pixel. */
const PIXEL = new Uint8Array(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
);

/** How long the tour waits for a deleted file to be gone. */
const GONE_TRIES = 20;
const GONE_PAUSE_MS = 100;

export async function files(stage: Stage): Promise<void> {
  stage.chapter("Files");
  const ada = await stage.enter("ada");
  const ben = await stage.enter("ben");
  const token = await stage.token("ada");
  const attachment = await stage.step("ada uploads a picture; the room signs its description", async () => {
    const headers = { "Content-Type": "image/png" };
    const path = `/api/rooms/${stage.room}/files?name=pixel.png`;
    const uploaded = body(201, await stage.call("POST", path, { token, headers, body: PIXEL }));
    return (uploaded as { readonly attachment: Attachment }).attachment;
  });
  const { id } = await stage.step("she posts it, without a word", async () => {
    good(await ada.ask("chat-message", { content: "", attachment }));
    return ben.hears("chat-message", (message) => message.attachment !== undefined);
  });
  await stage.step("ben reads it, with his own token", async () => {
    const read = await stage.call("GET", `/files/${attachment.key}`, { token: await stage.token("ben") });
    body(200, read);
    return `${read.headers.get("Content-Length")} bytes, ${read.headers.get("Content-Disposition")}`;
  });
  await stage.step("he cannot post her upload as his own", async () =>
    refused("INVALID_PAYLOAD", await ben.ask("chat-message", { content: "mine", attachment })),
  );
  await stage.step("with its message the file is gone", async () => {
    good(await ada.ask("delete-message", { id }));
    await ben.hears("message-deleted");
    // The room deletes the file right after the message.
    const read = () => stage.call("GET", `/files/${attachment.key}`, { token });
    let answer = await read();
    for (let tries = 0; answer.status !== 404 && tries < GONE_TRIES; tries++) {
      await setTimeout(GONE_PAUSE_MS);
      answer = await read();
    }
    return body(404, answer);
  });
  ada.leave();
  ben.leave();
}
