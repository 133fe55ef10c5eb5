// Reports of abuse: opt-in.
import type { Feature } from "../../extension/extension.ts";
import { Reports, type ReportsOptions } from "./reports.ts";

export const reports = (options?: ReportsOptions): Feature => ({
  name: "reports",
  room: (room) => new Reports(room, options),
});
