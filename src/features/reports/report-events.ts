// The events and answers about reports of abuse, for moderators. Made by reports.ts; `parley-rooms/features` exports the types for the pages.
import type { Message } from "../../extension/extension.ts";

/** A user who reported a message, with the reason. */
export interface Reporter {
  readonly user: string;
  readonly name: string;
  readonly reason: string;
  /** In milliseconds since 1970. */
  readonly at: number;
}

export type Resolution = "dismiss" | "delete" | "mute" | "ban";

/** All reports of one message. */
export interface Report {
  /** Of the message. */
  readonly id: string;
  readonly seq: number;
  /** The user id and the name of the message's author. */
  readonly sender: string;
  readonly name: string;
  /** As it stands now; absent where it cannot be read. */
  readonly message?: Message;
  /** The users who reported it, the first one first. */
  readonly reporters: readonly Reporter[];
  /** Absent while it is open. */
  readonly resolved?: {
    readonly by: string;
    readonly at: number;
    readonly action: Resolution;
  };
}

export interface ReportsPage {
  /** Open ones from the oldest to the newest, resolved ones from the newest to the oldest. */
  readonly reports: readonly Report[];
  /** All that are open, and that this moderator may see. */
  readonly open: number;
  /** Where there are more: the place behind which the next page begins. */
  readonly after?: string;
}

/** For moderators alone, and not for the author of the message. */
export interface ReportsSent {
  "message-reported": (report: { readonly id: string; readonly seq: number; readonly sender: string }) => void;
  "report-resolved": (report: {
    readonly id: string;
    readonly seq: number;
    readonly by: string;
    readonly action: Resolution;
  }) => void;
}

/** The fields of `welcome`. */
export interface ReportsWelcome {
  /** Absent in a room between two people, where nothing can be reported. */
  readonly reports?: {
    /** Characters (UTF-16 units) of a reason. */
    readonly reasonLengthMax: number;
    /** Open ones; for moderators alone. */
    readonly open?: number;
  };
}
