// The text of client.d.ts, as an application compiles it: with no other file, and checked itself.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, it } from "vitest";

import { clientTypes } from "../../scripts/client-types.ts";
import { ROOT } from "../host/repository.ts";

/** Right and wrong uses: the compiler has to accept the former, and to complain at each `@ts-expect-error`. */
const CONSUMER = `
import { connectRoom, type FoundMessage, type Message, type MessageState, type Room, type SendError } from "./client.js";

const room: Room = connectRoom("https://chat.example", "general", {
  token: async (refused) => (refused === "TOKEN_EXPIRED" ? "fresh" : "kept"),
  storage: null,
  queueLimit: 10,
});
const show = (message: Message): string => \`\${message.seq} \${message.content}\`;
room.on("chat-message", show);
room.on("message-state", (is: MessageState) => (is.state === "failed" ? is.error.code : is.clientMsgId));
room.off("chat-message", show);
room.on("reaction", ({ emoji, count }) => emoji.repeat(count));
// @ts-expect-error a count is a number
room.on("reaction", ({ count }) => count.length);
room.on("message-edited", ({ mentions = [] }) => mentions.join());
const { seq }: { seq: number } = await room.send("hello", { replyTo: "id" });
room.send("hello").catch((error: SendError) => error.code);
const page = await room.history({ after: seq, limit: 10 });
const found = await room.search({ query: "hello", from: "ada" });
const best: FoundMessage | undefined = "ok" in found ? found.messages[0] : undefined;
const where: readonly [number, number] | undefined = best?.matches[0];
const first: string | undefined = "ok" in page ? page.messages[0]?.content : page.error.code;
room.socket.on("anything", (value: number) => value);
connectRoom({ url: "https://example.com/chat", room: "general" }).close();
// @ts-expect-error a room is needed
connectRoom({ url: "https://chat.example" });
// @ts-expect-error here, too
connectRoom("https://chat.example");
// @ts-expect-error no such event
room.on("chat-mesage", show);
export { first, where };
`;

it("a TypeScript application compiles with client.d.ts alone, which names no type that is not there", async () => {
  const types = await clientTypes();
  const directory = mkdtempSync(path.join(tmpdir(), "parley-consumer-"));
  try {
    writeFileSync(path.join(directory, "client.d.ts"), types);
    writeFileSync(path.join(directory, "consumer.mts"), CONSUMER);
    const tsc = path.join(ROOT, "node_modules", ".bin", "tsc");
    const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false"];
    const platform = ["--module", "nodenext", "--target", "es2022", "--types", "", "--lib", "es2022"];
    const { status, stdout } = spawnSync(tsc, [...strict, ...platform, "consumer.mts"], {
      cwd: directory,
      encoding: "utf8",
    });
    expect([stdout, status]).toEqual(["", 0]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
