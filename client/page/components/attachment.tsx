// A message's file: an image as a preview whose place is kept free before it comes, anything else as a button that saves it.
import type { Attachment } from "../../../src/protocol/chat-events.ts";
import { isPicture, type Picture } from "../state/pictures.ts";
import type { Session } from "../state/session.ts";
import { bytesText } from "../state/times.ts";
import type { RoomView } from "../state/room-view.ts";
import { usePicture } from "./hooks.ts";
import { Icon } from "./icons.tsx";
import { saveFile } from "./save-file.ts";

const PREVIEW_WIDTH = 320;
const PREVIEW_HEIGHT = 240;

interface AttachmentProps {
  readonly session: Session;
  readonly view: RoomView;
  readonly attachment: Attachment;
}

export function AttachmentView({ session, view, attachment }: AttachmentProps) {
  if (!isPicture(attachment)) return <FileButton view={view} attachment={attachment} />;
  return <Preview session={session} view={view} picture={attachment} />;
}

interface PreviewProps {
  readonly session: Session;
  readonly view: RoomView;
  readonly picture: Picture;
}

function Preview({ session, view, picture }: PreviewProps) {
  const { key, name, width, height } = picture;
  const { url, isLost } = usePicture(view, picture);
  if (isLost) return <FileButton view={view} attachment={picture} />;
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
      aria-label={`Image ${name}, show large`}
      onClick={() => url !== undefined && session.set({ dialog: { kind: "image", key } })}
    >
      {url !== undefined && <img src={url} alt={name} />}
    </button>
  );
}

function FileButton({ view, attachment }: { readonly view: RoomView; readonly attachment: Attachment }) {
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
