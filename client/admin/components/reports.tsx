// Open reports of abuse: the queue over all rooms, and the part of it that is a room's own. The app draws the queue, the room page its
// part.
import { fileNamesOf } from "parley-rooms/client";
import type { Report, Reporter } from "parley-rooms/features";

import { useNow } from "../../page/components/hooks.ts";
import { exactTime } from "../../page/state/times.ts";
import type { AdminStore } from "../state/admin-store.ts";
import { countText, numberOf, spanText } from "../state/figures.ts";
import { openReportsOf, type RoomReports } from "../state/reports-queue.ts";
import { hashOf } from "../state/route.ts";
import { EdgedButton, ProblemLine } from "./parts.tsx";

export function ReportsPage({ store }: { readonly store: AdminStore }) {
  const { reports: queue } = store;
  const { rooms, shown, waiting } = queue;
  return (
    <section aria-labelledby="reports-title">
      <div class="title">
        <h1 id="reports-title">Reports</h1>
        <span class="spring" />
        <EdgedButton testId="reload-reports" onClick={() => void queue.reload()}>
          Reload
        </EdgedButton>
      </div>
      <p class="muted lead">
        Messages that members reported, room by room, the oldest report first. The authors are not told. Deletions,
        mutes and bans stand in the audit list of the room with your name.
      </p>
      <ProblemLine problem={queue.problem} />
      {rooms && shown.length === 0 && (
        <p class="empty" data-testid="no-reports">
          No open reports.
        </p>
      )}
      {shown.map((listed) => {
        const { room } = listed;
        const loaded = queue.of(room);
        return (
          <section key={room} aria-label={`Reports of ${room}`} data-testid="reported-room" data-room={room}>
            <h2>
              <a href={hashOf({ view: "room", room })}>{room}</a>{" "}
              <span class="hint">{numberOf(loaded?.open ?? openReportsOf(listed), "open report")}</span>
            </h2>
            {loaded ? <ReportList store={store} room={room} loaded={loaded} /> : <p class="muted">Loading…</p>}
          </section>
        );
      })}
      {waiting > 0 && (
        <p>
          <EdgedButton title="Asks the rooms, which is counted as a wake of each" onClick={() => void queue.more()}>
            Show more rooms ({countText(waiting)} left)
          </EdgedButton>
        </p>
      )}
    </section>
  );
}

interface OfRoomProps {
  readonly store: AdminStore;
  readonly room: string;
}

/** Nothing where there are none. */
export function RoomReportsSection({ store, room }: OfRoomProps) {
  const loaded = store.reports.of(room);
  if (!loaded || (loaded.open === 0 && !loaded.problem)) return null;
  return (
    <>
      <h2>
        Reports <span class="hint">{countText(loaded.open)} open</span>
      </h2>
      <ReportList store={store} room={room} loaded={loaded} />
    </>
  );
}

function ReportList({ store, room, loaded }: OfRoomProps & { readonly loaded: RoomReports }) {
  const now = useNow(5000);
  const { reports, after, open, problem } = loaded;
  return (
    <>
      <ProblemLine problem={problem} />
      <ul class="reports">
        {reports.map((report) => (
          <ReportCard key={report.id} {...{ store, room, report, now }} />
        ))}
      </ul>
      {after !== undefined && (
        <p>
          <EdgedButton onClick={() => void store.reports.load(room, after)}>
            Show more ({countText(open - reports.length)} left)
          </EdgedButton>
        </p>
      )}
    </>
  );
}

function ReportCard({ store, room, report, now }: OfRoomProps & { readonly report: Report; readonly now: number }) {
  const { id, sender, name, message, reporters } = report;
  const ask = (action: "delete" | "mute" | "ban") => (): void => store.ask({ kind: "resolve", action, room, report });
  const dismiss = (): void => void store.resolve(room, { id, action: "dismiss" }, "The report was dismissed");
  return (
    <li class="report" data-testid="report" data-id={id}>
      <p class="report-head">
        <Person user={sender} name={name} />
        {message && (
          <time class="hint" dateTime={new Date(message.timestamp).toISOString()}>
            {exactTime(message.timestamp)}
          </time>
        )}
      </p>
      <Said report={report} />
      <ul class="reporters">
        {reporters.map((reporter) => (
          <Complaint key={reporter.user} {...{ store, room, reporter, now }} />
        ))}
      </ul>
      <p class="report-actions">
        <EdgedButton testId="dismiss" disabled={store.isBusy} onClick={dismiss}>
          Dismiss
        </EdgedButton>
        {message && !message.deleted && (
          <EdgedButton testId="delete-message" onClick={ask("delete")}>
            Delete message…
          </EdgedButton>
        )}
        <EdgedButton testId="mute" aria-label={`Mute ${name}`} onClick={ask("mute")}>
          Mute…
        </EdgedButton>
        <EdgedButton testId="ban" aria-label={`Ban ${name}`} isGrave onClick={ask("ban")}>
          Ban…
        </EdgedButton>
      </p>
    </li>
  );
}

function Said({ report: { message, name } }: { readonly report: Report }) {
  if (!message) return <p class="muted">The message cannot be read just now.</p>;
  if (message.deleted)
    return (
      <p class="muted" data-testid="reported-gone">
        <bdi>{message.deletedBy ?? name}</bdi> deleted the message. The room keeps no text of deleted messages.
      </p>
    );
  const { content } = message;
  const files = fileNamesOf(message);
  return (
    <blockquote class="reported" dir="auto" data-testid="reported">
      {content}
      {files !== "" && (
        <span class="muted">
          {content !== "" && " "}
          {message.attachments ? "Files" : "File"}: {files}
        </span>
      )}
    </blockquote>
  );
}

function Complaint({
  store,
  room,
  reporter: { user, name, reason, at },
  now,
}: OfRoomProps & {
  readonly reporter: Reporter;
  readonly now: number;
}) {
  const dismissAll = (): void =>
    void store.resolve(
      room,
      { action: "dismiss-reporter", reporter: user },
      `The reports that only ${name} made were dismissed`,
    );
  return (
    <li>
      <Person user={user} name={name} />: <q dir="auto">{reason}</q>{" "}
      <span class="hint" title={exactTime(at)}>
        {spanText(now - at)} ago
      </span>{" "}
      <EdgedButton
        testId="dismiss-reporter"
        title="Dismisses all open reports that nobody else made; if this is a guest, those of all guests of the network"
        disabled={store.isBusy}
        onClick={dismissAll}
      >
        Dismiss all of {name}
      </EdgedButton>
    </li>
  );
}

function Person({ user, name }: { readonly user: string; readonly name: string }) {
  return (
    <span>
      <bdi class="author">{name}</bdi>
      {name !== user && (
        <span class="muted">
          {" "}
          <bdi>{user}</bdi>
        </span>
      )}
    </span>
  );
}
