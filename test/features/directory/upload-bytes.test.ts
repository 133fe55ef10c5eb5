// The bytes that each user uploads in 24 hours: FILE-8
import { expect, it } from "vitest";

import { UploadBytes } from "../../../src/features/directory/upload-bytes.ts";
import { START_MS } from "../../host/harness.ts";
import { MemoryState } from "../../host/memory-state.ts";

const DAY_MS = 86_400_000;
const MAX = 1_000_000;

it("lets a user upload again 24 hours after the first bytes that count", () => {
  const uploads = new UploadBytes(new MemoryState());
  expect(uploads.take("ada", MAX, MAX, START_MS)).toBe(0);
  expect(uploads.take("ada", 1000, MAX, START_MS + 5000)).toBe(DAY_MS - 5000);
  expect(uploads.take("ada", MAX, MAX, START_MS + DAY_MS)).toBe(0);
});

it("counts of an upload that fails what came", () => {
  const uploads = new UploadBytes(new MemoryState());
  uploads.take("ada", MAX, MAX, START_MS);
  uploads.giveBack("ada", { taken: MAX, takenMs: START_MS, received: 400_000 }, MAX);
  expect(uploads.take("ada", 600_001, MAX, START_MS + 1)).toBeGreaterThan(0);
  expect(uploads.take("ada", 600_000, MAX, START_MS + 1)).toBe(0);
});

it("gives nothing back for an upload that began in the 24 hours before", () => {
  const uploads = new UploadBytes(new MemoryState());
  uploads.take("ada", MAX, MAX, START_MS);
  uploads.take("ada", MAX, MAX, START_MS + DAY_MS);
  uploads.giveBack("ada", { taken: MAX, takenMs: START_MS, received: 0 }, MAX);
  expect(uploads.take("ada", 1, MAX, START_MS + DAY_MS + 1)).toBe(DAY_MS - 1);
});
