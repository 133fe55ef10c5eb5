// Gives a message's file to the reader, in their folder of downloads: nothing but an image is shown in this page.
import type { Attachment } from "../../../src/protocol/chat-events.ts";
import { messageOf } from "../state/room-answers.ts";
import type { RoomView } from "../state/room-view.ts";

/** What a browser takes at most to begin a download; until then the bytes have to be there. */
const SAVING_MS = 60_000;

export async function saveFile(view: RoomView, { key, name }: Pick<Attachment, "key" | "name">): Promise<void> {
  try {
    const url = URL.createObjectURL(await view.download({ key }));
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), SAVING_MS);
  } catch (error) {
    view.show(`The file could not be had: ${messageOf(error)}`);
  }
}
