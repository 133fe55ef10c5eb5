// Tests the uploads in a room's store.
import { expect, it } from "vitest";

import type { UploadOptions } from "../../../client/core/api.ts";
import type { RoomStoreOptions } from "../../../client/store/api.ts";
import { Uploads } from "../../../client/store/uploads.ts";
import type { Attachment, FilesWelcome } from "../../../src/protocol/chat-events.ts";

const RULES = { bytesMax: 100, types: ["text/plain"] };
const fileOf = (name: string, bytes = 10): File => new File(["x".repeat(bytes)], name);
const attachmentOf = (name: string): Attachment => ({ key: name, name, type: "text/plain", size: 10 });
const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

interface Asked {
  readonly name: string;
  readonly options: UploadOptions;
  readonly done: PromiseWithResolvers<Attachment>;
}

function begin(rules: FilesWelcome["files"] | null, previewOf?: RoomStoreOptions["previewOf"]) {
  const asked: Asked[] = [];
  const now = { rules };
  const uploads = new Uploads({
    upload: (file, options = {}) => {
      const done = Promise.withResolvers<Attachment>();
      asked.push({ name: (file as File).name, options, done });
      return done.promise;
    },
    previewOf,
    rules: () => now.rules,
    changed: () => {},
  });
  return { uploads, asked, now, states: () => uploads.state.map(({ name, state }) => `${name} ${state}`) };
}

it("shows the progress of each file, and keeps their order whichever arrives first", async () => {
  const { uploads, asked, states } = begin(RULES);
  void uploads.add(fileOf("one"));
  void uploads.add(fileOf("two"));
  asked[1]!.options.onProgress!({ loaded: 5, total: 10 });
  expect(uploads.state[1]).toMatchObject({ name: "two", size: 10, progress: 0.5 });
  asked[1]!.done.resolve(attachmentOf("two"));
  await turn();
  expect([states(), uploads.state[1]!.attachment]).toEqual([["one uploading", "two done"], attachmentOf("two")]);
});

it("no more than three are on their way at a time, and one that is removed takes no turn", async () => {
  const { uploads, asked } = begin(RULES);
  for (const name of ["one", "two", "three", "four", "five"]) void uploads.add(fileOf(name));
  const names = (): string[] => asked.map(({ name }) => name);
  expect([names(), uploads.state.length]).toEqual([["one", "two", "three"], 5]);
  uploads.remove(4);
  asked[1]!.done.resolve(attachmentOf("two"));
  await turn();
  expect(names()).toEqual(["one", "two", "three", "five"]);
});

it("a file has its preview, before it is there; one of which none can be made goes without", async () => {
  const preview = new Blob(["small"]);
  const { uploads, asked } = begin(RULES, async ({ name }) => (name === "photo" ? preview : undefined));
  for (const name of ["photo", "words"]) void uploads.add(fileOf(name));
  await turn();
  expect(uploads.state.map((upload) => upload.preview)).toEqual([preview, undefined]);
  expect(asked.map(({ options }) => options.preview)).toEqual([preview, undefined]);
});

it("a failed one stays, with the reason", async () => {
  const { uploads, asked, states } = begin(RULES);
  void uploads.add(fileOf("one"));
  const refusal = { code: "RATE_LIMITED", message: "Slower", retryAfterMs: 5 };
  asked[0]!.done.reject(Object.assign(new Error("Slower"), refusal));
  await turn();
  expect([states(), uploads.state[0]!.error]).toEqual([["one failed"], refusal]);
});

it("one that is taken off the list is cancelled", async () => {
  const { uploads, asked } = begin(RULES);
  void uploads.add(fileOf("one"));
  uploads.remove(uploads.state[0]!.id);
  expect([uploads.state, asked[0]!.options.signal!.aborted]).toEqual([[], true]);
  asked[0]!.done.reject(new Error("aborted"));
  await turn();
  expect(uploads.state).toEqual([]);
});

it("waits for the welcome, which has the rules for files", async () => {
  const { uploads, asked, now } = begin(null);
  void uploads.add(fileOf("one"));
  await turn();
  expect(asked).toEqual([]);
  now.rules = RULES;
  uploads.welcome();
  await turn();
  expect(asked.map(({ name }) => name)).toEqual(["one"]);
});

it.each([
  ["larger than the room takes", RULES, 101, "TOO_LONG"],
  ["in a room that takes none", undefined, 1, "NO_FILES"],
] as const)("a file %s is not sent at all", (_what, rules, bytes, code) => {
  const { uploads, asked } = begin(rules);
  void uploads.add(fileOf("one", bytes));
  expect([asked, uploads.state[0]]).toMatchObject([[], { state: "failed", error: { code } }]);
});

it("one that failed is uploaded again, and the others go on meanwhile", async () => {
  const { uploads, asked, states } = begin(RULES);
  for (const name of ["one", "two"]) void uploads.add(fileOf(name));
  asked[0]!.done.reject(Object.assign(new Error("Gone"), { code: "UNREADABLE" }));
  await turn();
  expect(states()).toEqual(["one failed", "two uploading"]);
  const { id } = uploads.state[0]!;
  void uploads.retry(id);
  // A second press, while it is under way, does nothing.
  void uploads.retry(id);
  expect([states(), uploads.state[0]!.error]).toEqual([["one uploading", "two uploading"], undefined]);
  expect(asked.map(({ name }) => name)).toEqual(["one", "two", "one"]);
  asked[2]!.done.resolve(attachmentOf("one"));
  await turn();
  expect(states()).toEqual(["one done", "two uploading"]);
});
