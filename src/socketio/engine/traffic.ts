// Counts frames, bytes and closings in the meter of an object. Called by engine.ts.
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
  /** Of all frames together, to each session. */
  readonly bytes: number;
}

/** Counts each frame that leaves, and its bytes, once per recipient. @returns what goes over WebSockets */
export function countLeaving(meter: Meter, effects: readonly Effect[]): SentFrames[] {
  const sent: SentFrames[] = [];
  let [framesOut, bytesOut] = [0, 0];
  for (const effect of effects) {
    if (effect.type === "send") {
      const { sessions, frames } = effect;
      let bytes = 0;
      for (const frame of frames) bytes += frameBytes(frame);
      framesOut += frames.length * sessions.length;
      bytesOut += bytes * sessions.length;
      sent.push({ sessions, bytes });
    } else if (effect.type === "answer-poll") {
      meter.count("frames_out:polling");
      bytesOut += frameBytes(effect.payload);
    }
  }
  if (framesOut > 0) meter.count("frames_out:websocket", framesOut);
  if (bytesOut > 0) meter.count("bytes_out", bytesOut);
  return sent;
}

/** Closings by the peer or the network have no reason, so they count under the disconnect reason. */
export function countClosed(meter: Meter, { reason, disconnect }: Closing): void {
  meter.count(`closed:${reason || disconnect}`);
}
