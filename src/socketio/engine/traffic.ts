// Counts frames, bytes and closings in the meter of an object. Called by engine.ts and session-server.ts.
import { frameBytes, type Frame } from "../wire/engine-io.ts";
import type { Closing } from "../wire/closings.ts";
import type { Effect } from "./effects.ts";
import type { Session } from "./session.ts";

/** The counting port of the core. Implemented by src/metrics/meter.ts. */
export interface Meter {
  /** @param series a family's name, a colon and the values of its labels */
  count(series: string, by?: number): void;
  /** Adds a value to a histogram. */
  observe(histogram: "unread", value: number): void;
}

/** Counts nothing: for servers without metrics. */
export const NO_METER: Meter = { count: () => {}, observe: () => {} };

export function countReceived(meter: Meter, { polling }: Session, frame: Frame): void {
  meter.count(polling ? "frames_in:polling" : "frames_in:websocket");
  meter.count("bytes_in", frameBytes(frame));
}

/** Frames that leave for some sessions over their WebSockets. */
export interface SentFrames {
  readonly sessions: readonly Session[];
  readonly frames: number;
  /** Of all frames together, to each session. */
  readonly bytes: number;
}

/** Sums up the sizes of frames, once for all counters. */
export function weigh(effects: readonly Effect[]): SentFrames[] {
  return effects.flatMap((effect) => {
    if (effect.type !== "send") return [];
    let bytes = 0;
    for (const frame of effect.frames) bytes += frameBytes(frame);
    return [{ sessions: effect.sessions, frames: effect.frames.length, bytes }];
  });
}

/** Counts each frame, and its bytes, once per recipient. */
export function countSent(meter: Meter, sent: readonly SentFrames[]): void {
  let [all, allBytes] = [0, 0];
  for (const { sessions, frames, bytes } of sent) {
    all += frames * sessions.length;
    allBytes += bytes * sessions.length;
  }
  if (all > 0) meter.count("frames_out:websocket", all);
  if (allBytes > 0) meter.count("bytes_out", allBytes);
}

/** Counts the answers to polls. */
export function countPolled(meter: Meter, effects: readonly Effect[]): void {
  for (const effect of effects) {
    if (effect.type !== "answer-poll") continue;
    meter.count("frames_out:polling");
    meter.count("bytes_out", frameBytes(effect.payload));
  }
}

/** Closings by the peer or the network have no reason, so they count under the disconnect reason. */
export function countClosed(meter: Meter, { reason, disconnect }: Closing): void {
  meter.count(`closed:${reason || disconnect}`);
}
