// The table of stored files: who uploaded what, where and when, and how large it is. The app draws it.
import { useNow } from "../../page/components/hooks.ts";
import { bytesText, exactTime } from "../../page/state/times.ts";
import type { AdminStore } from "../state/admin-store.ts";
import type { StoredFile } from "../state/answers.ts";
import { numberOf, spanText } from "../state/figures.ts";
import { hashOf } from "../state/route.ts";
import { EdgedButton, ProblemLine, Table, type Column } from "./parts.tsx";

export function FilesPage({ store: { files } }: { readonly store: AdminStore }) {
  const now = useNow(5000);
  const { page, problem } = files;
  const shown = page?.files ?? [];
  const bytes = shown.reduce((sum, { size }) => sum + size, 0);
  return (
    <section aria-labelledby="files-title">
      <div class="title">
        <h1 id="files-title">Files</h1>
        <span class="hint" data-testid="files-sum">
          {shown.length > 0 && `${numberOf(shown.length, "file")} shown, ${bytesText(bytes)}`}
        </span>
        <span class="spring" />
        <EdgedButton testId="reload-files" onClick={() => void files.load()}>
          Reload
        </EdgedButton>
      </div>
      <p class="muted lead">
        Uploaded files by room, the oldest of a room first. Files of direct messages are not listed. A file that nobody
        posts is deleted after an hour; one that was posted goes with its message.
      </p>
      <ProblemLine problem={problem} />
      {page && shown.length === 0 && (
        <p class="empty" data-testid="no-files">
          No files.
        </p>
      )}
      {shown.length > 0 && (
        <Table
          items={shown}
          columns={columnsAt(now)}
          row={({ key }) => ({ key, "data-testid": "stored-file", "data-key": key })}
        />
      )}
      {page?.hasMore && (
        <p>
          <EdgedButton testId="more-files" onClick={() => void files.load({ isMore: true })}>
            Show more
          </EdgedButton>
        </p>
      )}
    </section>
  );
}

const columnsAt = (now: number): Array<Column<StoredFile>> => [
  { label: "Room", cell: ({ room }) => <a href={hashOf({ view: "room", room })}>{room}</a> },
  { label: "Uploaded by", cell: ({ user }) => <bdi>{user ?? "unknown"}</bdi> },
  { label: "Name", class: "reason", cell: ({ name }) => <bdi>{name}</bdi> },
  { label: "Type", cell: ({ type }) => type },
  { label: "Size", class: "number", cell: ({ size }) => bytesText(size) },
  {
    label: "Uploaded",
    class: "number wide",
    title: ({ uploadedAt }) => exactTime(uploadedAt),
    cell: ({ uploadedAt }) => `${spanText(now - uploadedAt)} ago`,
  },
];
