// Draws a message's file: an image as a preview, whose place is reserved before it loads; other files as a button that saves them.
// The message row calls it.
import type { Attachment } from "parley-rooms/client";

import { isPicture, type Picture } from "../state/pictures.ts";
import { bytesText } from "../state/times.ts";
import type { ChatProps, ViewProps } from "./chat-props.ts";
import { usePicture } from "./hooks.ts";
import { Icon } from "./icons.tsx";
import { saveFile } from "./save-file.ts";

const PREVIEW_WIDTH = 320;
const PREVIEW_HEIGHT = 240;
/** Around the picture. */
const EDGE = 1;

interface AttachmentProps extends ChatProps {
  readonly attachment: Attachment;
}

export function AttachmentView({ store, view, attachment }: AttachmentProps) {
  if (!isPicture(attachment)) return <FileButton view={view} attachment={attachment} />;
  return <Preview store={store} view={view} picture={attachment} />;
}

function Preview({ store, view, picture }: ChatProps & { readonly picture: Picture }) {
  const { key, name, width, height } = picture;
  const { url, isLost } = usePicture(view, picture);
  if (isLost) return <FileButton view={view} attachment={picture} />;
  const scale = Math.min(1, PREVIEW_WIDTH / width, PREVIEW_HEIGHT / height);
  // A file may claim any size, so a preview is neither a thin line nor a tall column.
  const [shownWidth, shownHeight] = [Math.max(48, width * scale), Math.max(24, height * scale)].map(
    (side) => side + 2 * EDGE,
  ) as [number, number];
  const box = { width: `${shownWidth}px`, aspectRatio: `${shownWidth} / ${shownHeight}` };
  return (
    <button
      type="button"
      class="preview"
      style={box}
      data-testid="attachment"
      aria-label={`Image ${name}, show large`}
      onClick={() => url !== undefined && store.set({ dialog: { kind: "image", key } })}
    >
      {url !== undefined && <img src={url} alt={name} />}
    </button>
  );
}

function FileButton({ view, attachment }: ViewProps & { readonly attachment: Attachment }) {
  return (
    <button
      type="button"
      class="file"
      data-testid="attachment"
      title={`Save ${attachment.name}`}
      onClick={() => void saveFile(view, attachment)}
    >
      <Icon name="file" />
      <span class="file-name" dir="auto">
        {attachment.name}
      </span>
      <span class="file-size">{bytesText(attachment.size)}</span>
    </button>
  );
}
