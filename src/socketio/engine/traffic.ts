// Counts frames, bytes and closings. Called by engine.ts and session-server.ts.
import { frameBytes, type Frame } from "../wire/engine-io.ts";
import type { Closing } from "../wire/closings.ts";
import type { Meter } from "./meter.ts";
import type { Effect } from "./outbox.ts";
import type { Session } from "./session.ts";

export function countReceived(meter: Meter, { polling }: Session, frame: Frame): void {
  meter.count(polling ? "frames_in:polling" : "frames_in:websocket");
  meter.count("bytes_in", frameBytes(frame));
}

/** Frames that some sessions are sent over their WebSockets together. */
export interface Given {
  readonly sessions: readonly Session[];
  readonly frames: number;
  /** Of all frames, to each of them. */
  readonly bytes: number;
}

/** Sums up the sizes of frames, once for all counters. */
export function weigh(effects: readonly Effect[]): Given[] {
  return effects.flatMap((effect) => {
    if (effect.type !== "send") return [];
    let bytes = 0;
    for (const frame of effect.frames) bytes += frameBytes(frame);
    return [{ sessions: effect.sessions, frames: effect.frames.length, bytes }];
  });
}

/** Each frame once per recipient; its bytes, too. */
export function countGiven(meter: Meter, given: readonly Given[]): void {
  let [all, allBytes] = [0, 0];
  for (const { sessions, frames, bytes } of given) {
    all += frames * sessions.length;
    allBytes += bytes * sessions.length;
  }
  if (all > 0) meter.count("frames_out:websocket", all);
  if (allBytes > 0) meter.count("bytes_out", allBytes);
}

/** The answers to polls. */
export function countPolled(meter: Meter, effects: readonly Effect[]): void {
  for (const effect of effects) {
    if (effect.type !== "answer-poll") continue;
    meter.count("frames_out:polling");
    meter.count("bytes_out", frameBytes(effect.payload));
  }
}

/** Where the peer or the network ended it, there is no reason but the application's word for that. */
export function countClosed(meter: Meter, { reason, disconnect }: Closing): void {
  meter.count(`closed:${reason || disconnect}`);
}
