// Pinned messages: opt-in.
import type { Feature } from "../../extension/extension.ts";
import { Pins, type PinsOptions } from "./pins.ts";

export const pins = (options?: PinsOptions): Feature => ({ name: "pins", room: (room) => new Pins(room, options) });
