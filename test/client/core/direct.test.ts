// Tests how connectDirect fails, with a server that the test plays.
import { afterEach, expect, it, vi } from "vitest";

import { connectDirect } from "../../../client/core/direct.ts";

afterEach(() => vi.unstubAllGlobals());

it.each([
  ["the server refuses", { error: { code: "FORBIDDEN", message: "Not this one." } }, () => "token", "FORBIDDEN"],
  ["the server is away", undefined, () => "token", "NO_ANSWER"],
  ["the token function throws", { ok: true }, () => Promise.reject(new Error("signed out")), "NO_ANSWER"],
  [
    "the token function throws when it is asked for another token",
    { error: { code: "TOKEN_EXPIRED", message: "Over." } },
    (refused?: string) => (refused ? Promise.reject(new Error("signed out")) : "token"),
    "NO_ANSWER",
  ],
])("the error has a code where %s", async (_what, answer, token, code) => {
  vi.stubGlobal("fetch", async () => {
    if (!answer) throw new TypeError("Failed to fetch");
    return Response.json(answer);
  });
  await expect(connectDirect("http://chat.example", "ben", { token })).rejects.toMatchObject({
    code,
    message: expect.any(String),
  });
});
