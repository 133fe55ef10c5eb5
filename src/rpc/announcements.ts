// The calls that announcements make: of rooms, and of the Announcements object, of which there is one. Used by the Worker and by objects.
import type {
  AnnouncedHere,
  AnnounceItem,
  AnnounceNote,
  AnnounceOutcome,
  AnnounceProgress,
  AnnounceTotal,
} from "../protocol/announcement.ts";

export interface AnnounceRpc {
  /** Sends them to the connections of the room. @returns the outcomes, in their order; resolves when they are durable */
  takeAnnounced(announcements: readonly AnnouncedHere[]): Promise<readonly AnnounceOutcome[]>;
}

export interface AnnouncementsRpc {
  /** @param by finds announcements of this user only; absent: of any user */
  find(id: string, by?: string): Promise<AnnounceProgress | undefined>;

  /** @param parts `null` while their number is not known */
  begin(
    id: string,
    given: { readonly by: string; readonly accepted: number; readonly parts: number | null },
  ): Promise<void>;

  note(notes: readonly AnnounceNote[], totals: readonly AnnounceTotal[]): Promise<void>;

  /** Delivers items without a queue. Resolves once they are stored. */
  deliver(items: readonly AnnounceItem[], delaySeconds: number): Promise<void>;
}
