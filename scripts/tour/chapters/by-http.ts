// Tour chapter: a backend's HTTP calls, without a connection.
import { body, refused, type Stage } from "../stage.ts";

interface Posted {
  readonly id: string;
  readonly seq: number;
}

export async function byHttp(stage: Stage): Promise<void> {
  stage.chapter("The HTTP API");
  const token = await stage.token("backend", { role: "service" });
  const at = `/api/rooms/${stage.room}`;
  const ada = await stage.enter("ada");
  const headers = { "Idempotency-Key": "invoice-7" };
  const posted = await stage.step("a backend posts as a user, and may repeat the call", async () => {
    const message = { content: "Your invoice is ready.", as: { user: "billing", name: "Billing" } };
    const first = body(201, await stage.call("POST", `${at}/messages`, { token, headers, body: message }));
    body(200, await stage.call("POST", `${at}/messages`, { token, headers, body: message }));
    return first as Posted;
  });
  await stage.step("ada gets it like any other message", () => ada.hears("chat-message", ({ id }) => id === posted.id));
  await stage.step("a page of history; `Link` leads to the next one", async () => {
    const page = await stage.call("GET", `${at}/messages?limit=2`, { token });
    body(200, page);
    return page.headers.get("Link");
  });
  await stage.step("it edits its message", async () =>
    body(200, await stage.call("PATCH", `${at}/messages/${posted.id}`, { token, body: { content: "Paid. Thanks!" } })),
  );
  await stage.step("who is there", async () => body(200, await stage.call("GET", `${at}/members`, { token })));
  await stage.step("all rooms, without waking any of them", async () => {
    const listed = await stage.call("GET", `/api/rooms?prefix=${stage.room}`, { token });
    return body(200, listed);
  });
  await stage.step("it moderates", async () =>
    body(200, await stage.call("POST", `${at}/moderation`, { token, body: { action: "slow-mode", seconds: 0 } })),
  );
  await stage.step("members have no business here", async () => {
    const answer = await stage.call("DELETE", at, { token: await stage.token("ada") });
    return refused("FORBIDDEN", body(403, answer) as object);
  });
  await stage.step("the whole history, a line each", async () => {
    const lines = (body(200, await stage.call("GET", `${at}/export`, { token })) as string).trimEnd().split("\n");
    return `${lines.length} lines, the last: ${lines.at(-1)}`;
  });
  await stage.step("everyone is sent away for a moment, before a deploy for example", async () => {
    const drained = { rooms: [stage.room], reconnectWithinMs: 100 };
    body(200, await stage.call("POST", "/api/drain", { token, body: drained }));
    return ada.hears("notice");
  });
  await stage.step("and comes back", () => ada.hears("welcome"));
  await stage.step("the room is deleted with all that is in it", async () => {
    body(200, await stage.call("DELETE", at, { token }));
    await ada.hears("notice");
    return body(200, await stage.call("GET", at, { token }));
  });
}
