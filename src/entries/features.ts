// The entry `parley-rooms/features`: features for the rooms of a chat, to be named in `features` of createParley or of the room's class, and
// the parts to write more of them. Unlike `parley-rooms` it needs no platform, so tests and clients can import it, too.
export * from "../extension/extension.ts";
export { pins } from "../features/pins/index.ts";
export { Pins, type PinsOptions } from "../features/pins/pins.ts";
export type { Pin, PinsSent, PinsWelcome, Unpinned } from "../features/pins/pin-events.ts";
export { reports } from "../features/reports/index.ts";
export { Reports, type ReportsOptions } from "../features/reports/reports.ts";
export type {
  Report,
  Reporter,
  ReportsPage,
  ReportsSent,
  ReportsWelcome,
  Resolution,
} from "../features/reports/report-events.ts";
