// The bindings of an object of the chat.
import type { Bindings } from "../rpc/bindings.ts";

export interface Env extends Bindings {
  /** Takes a data point per report of a room; without it none are written. */
  readonly ANALYTICS?: AnalyticsEngineDataset;
}
