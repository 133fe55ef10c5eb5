// Saves a message's file in the reader's folder of downloads, or opens a PDF in a tab of its own. The buttons of files, players and the
// picture viewer call it.
import type { Attachment } from "parley-rooms/client";

import { t } from "../state/language.ts";
import { messageOf } from "../state/room-answers.ts";
import type { RoomView } from "../state/room-view.ts";

/** The longest time a browser takes to begin a download, or to read a PDF; it needs the bytes until then. */
const SAVING_MS = 60_000;

/** The browser opens every file of this type in its PDF viewer, which cannot reach the page. */
const PDF = "application/pdf";

/** Browsers of some phones have no viewer. */
export const isOpened = ({ type }: Attachment): boolean => type === PDF && navigator.pdfViewerEnabled;

export async function saveFile(view: RoomView, { key, name }: Pick<Attachment, "key" | "name">): Promise<void> {
  try {
    const url = addressOf(await view.store.room.download({ key }));
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
  } catch (error) {
    view.show(t("The file could not be loaded: {reason}", { reason: messageOf(error) }));
  }
}

export async function openPdf(view: RoomView, file: Pick<Attachment, "key" | "name">): Promise<void> {
  // Before the bytes are there: browsers open no tab without a press of the reader.
  const tab = open("", "_blank");
  if (!tab) return saveFile(view, file);
  tab.opener = null;
  tab.document.title = file.name;
  try {
    tab.location.replace(addressOf(new Blob([await view.store.room.download(file)], { type: PDF })));
  } catch (error) {
    tab.close();
    view.show(t("The file could not be loaded: {reason}", { reason: messageOf(error) }));
  }
}

function addressOf(bytes: Blob): string {
  const url = URL.createObjectURL(bytes);
  setTimeout(() => URL.revokeObjectURL(url), SAVING_MS);
  return url;
}
