// Threads: a message with its replies, read apart from the stream, and what is new in those that a user takes part in. Rules: SPEC.md.
import type { Feature } from "../../extension/extension.ts";
import type { BuiltIn } from "../built-in.ts";
import { Threads } from "./threads.ts";

const FEATURE: BuiltIn = { name: "threads", roomPart: (room, chat) => new Threads(room, chat) };

export const threads = (): Feature => FEATURE;
