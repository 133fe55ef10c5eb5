// A finding of the doctor about a project. Made by the checks beside it, printed by command.ts.

/** `error`: a deployment does not work, or loses something. `warning`: it works and is seldom meant. `note`: a part is off, or unknown here. */
export const LEVELS = ["error", "warning", "note"] as const;
export type Level = (typeof LEVELS)[number];

export interface Finding {
  readonly level: Level;
  /** A constant name, `area.what`, for programs. */
  readonly code: string;
  readonly message: string;
  /** The remedy. */
  readonly remedy?: string;
}

export const error = (code: string, message: string, remedy?: string): Finding =>
  finding("error", code, message, remedy);
export const warning = (code: string, message: string, remedy?: string): Finding =>
  finding("warning", code, message, remedy);
export const note = (code: string, message: string, remedy?: string): Finding => finding("note", code, message, remedy);

const finding = (level: Level, code: string, message: string, remedy?: string): Finding => ({
  level,
  code,
  message,
  ...(remedy !== undefined && { remedy }),
});
