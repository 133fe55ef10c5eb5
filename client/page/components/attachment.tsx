// Draws the files of a message: pictures as previews whose places are reserved before they load, several as an album; sound and films with
// a player; other files as buttons that open or save them. The rows of messages call it.
import { attachmentsOf, type Attachment, type Message } from "parley-rooms/client";

import { t } from "../state/language.ts";
import { isPicture, smallOf, type Picture } from "../state/pictures.ts";
import { bytesText } from "../state/times.ts";
import type { ChatProps, ViewProps } from "./chat-props.ts";
import { IconButton } from "./controls.tsx";
import { usePicture } from "./hooks.ts";
import { Icon } from "./icons.tsx";
import { isPlayed, Player } from "./player.tsx";
import { isOpened, openPdf, saveFile } from "./save-file.ts";

const PREVIEW_WIDTH = 320;
const PREVIEW_HEIGHT = 240;
/** Around the picture. */
const EDGE = 1;

interface AttachmentsProps extends ChatProps {
  readonly message: Pick<Message, "attachment" | "attachments">;
}

export function Attachments({ store, view, message }: AttachmentsProps) {
  const files = attachmentsOf(message);
  const pictures = files.filter(isPicture);
  return (
    <>
      {pictures.length > 1 ? (
        <div class="album">
          {pictures.map((picture, at) => (
            <Preview
              key={picture.key}
              {...{ store, view, picture }}
              class={at < halvesOf(pictures.length) ? "half" : "third"}
            />
          ))}
        </div>
      ) : (
        pictures.map((picture) => <Preview key={picture.key} {...{ store, view, picture }} />)
      )}
      {files
        .filter((file) => !isPicture(file))
        .map((file) => (
          <OtherFile key={file.key} view={view} file={file} />
        ))}
    </>
  );
}

/** Pictures that an album shows two in a row, so that its rows of three leave no hole. */
const halvesOf = (count: number): number => ({ 0: 0, 1: 4, 2: 2 })[count % 3]!;

interface FileProps extends ViewProps {
  readonly file: Attachment;
}

function OtherFile({ view, file }: FileProps) {
  return isPlayed(file) ? <Player view={view} file={file} /> : <FileButton view={view} file={file} />;
}

interface PreviewProps extends ChatProps {
  readonly picture: Picture;
  /** In an album, which gives it its size. */
  readonly class?: "half" | "third";
}

function Preview({ store, view, picture, class: place }: PreviewProps) {
  const { key, name } = picture;
  const { url, isLost } = usePicture(view, smallOf(picture)!);
  if (isLost) return <FileButton view={view} file={picture} />;
  return (
    <button
      type="button"
      class={`preview ${place ?? ""}`}
      style={place ? undefined : boxOf(picture)}
      data-testid="attachment"
      aria-label={t("Image {name}, show large", { name })}
      onClick={() => url !== undefined && store.set({ dialog: { kind: "image", key } })}
    >
      {url !== undefined && <img src={url} alt={name} />}
    </button>
  );
}

/** A file may claim any size, so a preview is neither a thin line nor a tall column. */
function boxOf({ width, height }: Picture) {
  const scale = Math.min(1, PREVIEW_WIDTH / width, PREVIEW_HEIGHT / height);
  const [shownWidth, shownHeight] = [Math.max(48, width * scale), Math.max(24, height * scale)].map(
    (side) => side + 2 * EDGE,
  ) as [number, number];
  return { width: `${shownWidth}px`, aspectRatio: `${shownWidth} / ${shownHeight}` };
}

/** Opens a PDF in a tab, and saves any other file. */
function FileButton({ view, file }: FileProps) {
  const { name, size } = file;
  const opens = isOpened(file);
  const button = (
    <button
      type="button"
      class="file"
      data-testid="attachment"
      title={opens ? t("Open {name}", { name }) : t("Save {name}", { name })}
      onClick={() => void (opens ? openPdf(view, file) : saveFile(view, file))}
    >
      <Icon name="file" />
      <span class="file-name" dir="auto">
        {name}
      </span>
      <span class="file-size">{bytesText(size)}</span>
    </button>
  );
  if (!opens) return button;
  return (
    <div class="opened-file">
      {button}
      <IconButton icon="download" label={t("Save {name}", { name })} onClick={() => void saveFile(view, file)} />
    </div>
  );
}
