// A message's file: an image as a preview whose place is kept free before it comes, anything else as a button that saves it.
import { useEffect, useState } from "preact/hooks";

import type { Attachment } from "../../../src/protocol/files-events.ts";
import { messageOf } from "../state/settled.ts";
import type { Session } from "../state/session.ts";
import { bytesText } from "../state/times.ts";
import type { Visit } from "../state/visit.ts";
import { Icon } from "./icons.tsx";

/** Images that the server knew by their bytes; none of them can carry a script. */
const PREVIEWED = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);
const PREVIEW_BYTES_MAX = 10_000_000;
const PREVIEW_WIDTH = 320;
const PREVIEW_HEIGHT = 240;
/** Previews kept when they are out of sight. */
const URLS_MAX = 40;
/** What a browser takes at most to begin a download; until then the bytes have to be there. */
const SAVING_MS = 60_000;

const urls = new Map<string, string>();

interface AttachmentProps {
  readonly session: Session;
  readonly visit: Visit;
  readonly attachment: Attachment;
}

export function AttachmentView({ session, visit, attachment }: AttachmentProps) {
  const { type, size, width, height } = attachment;
  const isPreviewed = PREVIEWED.has(type) && size <= PREVIEW_BYTES_MAX && width !== undefined && height !== undefined;
  if (!isPreviewed) return <FileButton visit={visit} attachment={attachment} />;
  return <Preview session={session} visit={visit} attachment={attachment} width={width} height={height} />;
}

function Preview({
  session,
  visit,
  attachment,
  width,
  height,
}: AttachmentProps & { readonly width: number; readonly height: number }) {
  const [url, setUrl] = useState(urls.get(attachment.key));
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    if (url !== undefined) return undefined;
    const leaving = new AbortController();
    visit
      .download(attachment, { signal: leaving.signal })
      .then((blob) => setUrl(keepUrl(attachment.key, URL.createObjectURL(blob))))
      .catch(() => leaving.signal.aborted || setLost(true));
    return () => leaving.abort();
  }, [attachment.key]);
  if (isLost) return <FileButton visit={visit} attachment={attachment} />;
  const scale = Math.min(1, PREVIEW_WIDTH / width, PREVIEW_HEIGHT / height);
  // What a file says of itself may be anything: no line or column of one pixel, and no tower of a thousand.
  const [shownWidth, shownHeight] = [Math.max(48, width * scale), Math.max(24, height * scale)];
  const box = { width: `${shownWidth}px`, aspectRatio: `${shownWidth} / ${shownHeight}` };
  return (
    <button
      type="button"
      class="preview"
      style={box}
      data-testid="attachment"
      aria-label={`Image ${attachment.name}, show large`}
      onClick={() => url !== undefined && session.set({ dialog: { kind: "image", url, name: attachment.name } })}
    >
      {url !== undefined && <img src={url} alt={attachment.name} />}
    </button>
  );
}

function FileButton({ visit, attachment }: { readonly visit: Visit; readonly attachment: Attachment }) {
  return (
    <button
      type="button"
      class="file"
      data-testid="attachment"
      title={`Save ${attachment.name}`}
      onClick={() => void save(visit, attachment)}
    >
      <Icon name="file" />
      <span class="file-name" dir="auto">
        {attachment.name}
      </span>
      <span class="file-size">{bytesText(attachment.size)}</span>
    </button>
  );
}

/** Gives the file to the reader, in their folder of downloads: nothing but an image is shown in this page. */
async function save(visit: Visit, { key, name }: Attachment): Promise<void> {
  try {
    const url = URL.createObjectURL(await visit.download({ key }));
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), SAVING_MS);
  } catch (error) {
    visit.show(`The file could not be had: ${messageOf(error)}`);
  }
}

function keepUrl(key: string, url: string): string {
  urls.set(key, url);
  for (const [oldest, old] of urls) {
    if (urls.size <= URLS_MAX) break;
    urls.delete(oldest);
    URL.revokeObjectURL(old);
  }
  return url;
}
