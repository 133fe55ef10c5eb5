// The table of dead letters: batches that the relay could not deliver, to replay or to discard. The app draws it.
import { useNow } from "../../page/components/hooks.ts";
import { exactTime } from "../../page/state/times.ts";
import type { DeadLetter } from "../state/answers.ts";
import type { AdminStore } from "../state/admin-store.ts";
import { countText, originText, spanText } from "../state/figures.ts";
import { hashOf } from "../state/route.ts";
import { ProblemLine } from "./parts.tsx";

export function DeadLetters({ store }: { readonly store: AdminStore }) {
  const { letters: page, lettersProblem } = store;
  const letters = page?.letters ?? [];
  return (
    <section aria-labelledby="letters-title">
      <div class="title">
        <h1 id="letters-title">Dead letters</h1>
        <span class="spring" />
        <button type="button" class="plain edged" data-testid="reload-letters" onClick={() => void store.loadLetters()}>
          Look again
        </button>
        <button
          type="button"
          class="plain edged"
          data-testid="replay-all"
          disabled={letters.length === 0 || store.isBusy}
          onClick={() => void store.replay()}
        >
          Replay the oldest
        </button>
      </div>
      <p class="muted lead">
        Batches of linked rooms and announcements that could not be delivered. Contents are not shown. Mend the cause,
        then replay; no room takes a message twice.
      </p>
      <ProblemLine problem={lettersProblem} />
      {page && letters.length === 0 && (
        <p class="empty" data-testid="no-letters">
          There are none.
        </p>
      )}
      {letters.length > 0 && <LetterTable store={store} letters={letters} />}
      {page?.hasMore && (
        <p>
          <button type="button" class="plain edged" onClick={() => void store.loadLetters(letters.at(-1)?.id)}>
            Show more
          </button>
        </p>
      )}
    </section>
  );
}

function LetterTable({ store, letters }: { readonly store: AdminStore; readonly letters: readonly DeadLetter[] }) {
  const now = useNow(5000);
  return (
    <div class="table-box">
      <table>
        <thead>
          <tr>
            <th scope="col">From, to</th>
            <th scope="col" class="number">
              Messages
            </th>
            <th scope="col" class="number">
              Changes
            </th>
            <th scope="col">Why</th>
            <th scope="col" class="number">
              Given up
            </th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {letters.map((letter) => (
            <LetterRow key={letter.id} store={store} letter={letter} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function LetterRow({
  store,
  letter,
  now,
}: {
  readonly store: AdminStore;
  readonly letter: DeadLetter;
  readonly now: number;
}) {
  const { id, at, from, to, messages, changes, reason } = letter;
  const origin = originText(letter);
  return (
    <tr data-testid="letter" data-id={id}>
      <th scope="row">
        {from ? <a href={hashOf({ view: "room", room: from })}>{from}</a> : origin} →{" "}
        {to ? <a href={hashOf({ view: "room", room: to })}>{to}</a> : "unknown"}
      </th>
      <td class="number" data-label="Messages">
        {countText(messages)}
      </td>
      <td class="number" data-label="Changes">
        {countText(changes)}
      </td>
      <td class="reason" data-label="Why">
        {reason}
      </td>
      <td class="number wide" data-label="Given up" title={exactTime(at)}>
        {spanText(now - at)} ago
      </td>
      <td class="actions">
        <button
          type="button"
          class="plain edged"
          data-testid="replay"
          disabled={store.isBusy}
          onClick={() => void store.replay([id])}
        >
          Replay
        </button>
        <button
          type="button"
          class="plain edged grave"
          data-testid="discard"
          onClick={() => store.ask({ kind: "discard", letter })}
        >
          Discard…
        </button>
      </td>
    </tr>
  );
}
