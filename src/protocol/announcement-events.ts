// What clients hear of announcements. Rules: ANN-1.

export interface AnnouncementEvents {
  /** For everybody in many rooms, or for some people wherever they are; `id` is the same where it comes twice. */
  announcement: (announcement: { readonly id: string; readonly data: unknown }) => void;
}
