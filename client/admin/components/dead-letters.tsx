// The table of dead letters: batches that the relay could not deliver, to replay or to discard. The app draws it.
import { useNow } from "../../page/components/hooks.ts";
import { exactTime } from "../../page/state/times.ts";
import type { DeadLetter } from "../state/answers.ts";
import type { AdminStore } from "../state/admin-store.ts";
import { countText, originText, spanText } from "../state/figures.ts";
import { hashOf } from "../state/route.ts";
import { EdgedButton, ProblemLine, Table, type Column } from "./parts.tsx";

export function DeadLetters({ store }: { readonly store: AdminStore }) {
  const { page, problem } = store.letters;
  const letters = page?.letters ?? [];
  return (
    <section aria-labelledby="letters-title">
      <div class="title">
        <h1 id="letters-title">Dead letters</h1>
        <span class="spring" />
        <EdgedButton testId="reload-letters" onClick={() => void store.letters.load()}>
          Reload
        </EdgedButton>
        <EdgedButton
          testId="replay-oldest"
          disabled={letters.length === 0 || store.isBusy}
          onClick={() => void store.letters.replay()}
        >
          Replay the oldest 100
        </EdgedButton>
      </div>
      <p class="muted lead">
        Batches of linked rooms and announcements that could not be delivered. Contents are not shown. Fix the cause,
        then replay them; no room stores a message twice.
      </p>
      <ProblemLine problem={problem} />
      {page && letters.length === 0 && (
        <p class="empty" data-testid="no-letters">
          No dead letters.
        </p>
      )}
      {letters.length > 0 && <LetterTable store={store} letters={letters} />}
      {page?.hasMore && (
        <p>
          <EdgedButton onClick={() => void store.letters.load(letters.at(-1)?.id)}>Show more</EdgedButton>
        </p>
      )}
    </section>
  );
}

function LetterTable({ store, letters }: { readonly store: AdminStore; readonly letters: readonly DeadLetter[] }) {
  const now = useNow(5000);
  return (
    <Table
      items={letters}
      columns={columnsAt(now)}
      row={({ id }) => ({ key: id, "data-testid": "letter", "data-id": id })}
      actions={(letter) => (
        <>
          <EdgedButton testId="replay" disabled={store.isBusy} onClick={() => void store.letters.replay([letter.id])}>
            Replay
          </EdgedButton>
          <EdgedButton isGrave testId="discard" onClick={() => store.ask({ kind: "discard", letter })}>
            Discard…
          </EdgedButton>
        </>
      )}
    />
  );
}

const columnsAt = (now: number): Array<Column<DeadLetter>> => [
  {
    label: "From, to",
    cell: (letter) => (
      <>
        {letter.from ? <RoomLink room={letter.from} /> : originText(letter)} →{" "}
        {letter.to ? <RoomLink room={letter.to} /> : "unknown"}
      </>
    ),
  },
  { label: "Messages", class: "number", cell: ({ messages }) => countText(messages) },
  { label: "Changes", class: "number", cell: ({ changes }) => countText(changes) },
  { label: "Why", class: "reason", cell: ({ reason }) => reason },
  {
    label: "Given up",
    class: "number wide",
    title: ({ at }) => exactTime(at),
    cell: ({ at }) => `${spanText(now - at)} ago`,
  },
];

const RoomLink = ({ room }: { readonly room: string }) => <a href={hashOf({ view: "room", room })}>{room}</a>;
