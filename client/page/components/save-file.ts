// Saves a message's file in the reader's folder of downloads. The page shows images only. The file button and the picture viewer
// call it.
import type { Attachment } from "parley-rooms/client";

import { messageOf } from "../state/room-answers.ts";
import type { RoomView } from "../state/room-view.ts";

/** The longest time a browser takes to begin a download; it needs the bytes until then. */
const SAVING_MS = 60_000;

export async function saveFile(view: RoomView, { key, name }: Pick<Attachment, "key" | "name">): Promise<void> {
  try {
    const url = URL.createObjectURL(await view.store.room.download({ key }));
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), SAVING_MS);
  } catch (error) {
    view.show(`The file could not be loaded: ${messageOf(error)}`);
  }
}
