// RPC calls to a room: the room validates the input of every caller.
import { expect, it } from "vitest";

import { defaultFeatures } from "../../src/features/default.ts";
import { callsWith } from "../../src/worker/api/calls.ts";
import { respond } from "../../src/worker/api/responses.ts";
import { freshRoom, join, stubOf } from "./rooms.ts";

const BACKEND = { user: "backend", name: "backend", role: "service" } as const;

it("a room checks the input of a call, and the answer becomes a refusal that names each field: API-2, API-3", async () => {
  const stub = stubOf(freshRoom());
  const answer = await stub.ask("history", BACKEND, { limit: 0, before: -1 });
  expect(answer).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
  const response = respond(answer);
  expect(response.status).toBe(400);
  const { error } = await response.json<{ error: { issues: Array<{ path: string }> } }>();
  expect(error.issues.map(({ path }) => path).sort()).toEqual(["before", "limit"]);
});

it("takes no event that clients cannot send", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  for (const event of ["overview", "deleteRoom", "constructor", "__proto__", "disconnect"]) {
    const answer = await stubOf(room).ask(event as "history", BACKEND, {});
    expect(answer).toMatchObject({ error: { code: "UNKNOWN_EVENT" } });
    expect(respond(answer).status).toBe(404);
  }
  expect(await ada.ask("presence", {})).toMatchObject({ count: 1 });
});

it("every call has an answer schema, a name of its own and allowed roles", () => {
  const calls = callsWith(defaultFeatures());
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
  for (const { answers, roles, summary } of calls) {
    expect(Object.keys(answers)).not.toEqual([]);
    expect(roles).toContain("service");
    expect(summary).toMatch(/^[A-Z]/);
  }
});
