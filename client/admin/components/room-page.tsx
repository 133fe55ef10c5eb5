// The page of one room: live its members, connections and the cause of the last wake; below them its use and cost, which the lobby
// knows without waking the room. The app draws it.
import { useNow } from "../../page/components/hooks.ts";
import { bytesText, exactTime } from "../../page/state/times.ts";
import type { Cost, Usage } from "../state/answers.ts";
import type { AdminStore } from "../state/admin-store.ts";
import {
  awakeShare,
  countText,
  dollarsText,
  HOUR_MS,
  numberOf,
  rateText,
  spanText,
  wakesOf,
} from "../state/figures.ts";
import { hashOf } from "../state/route.ts";
import { messagesLately, type Line } from "../state/room-snapshot.ts";
import { Connections } from "./connections.tsx";
import { EdgedButton, Figure, ProblemLine, WakeTable } from "./parts.tsx";
import { RoomReportsSection } from "./reports.tsx";
import { Shards } from "./shards.tsx";

interface RoomPageProps {
  readonly store: AdminStore;
  readonly room: string;
}

export function RoomPage({ store, room }: RoomPageProps) {
  const { snapshot } = store;
  const now = useNow(1000);
  const known = store.listed(room) ?? store.stats;
  return (
    <section aria-labelledby="room-title">
      <p class="back">
        <a href={hashOf({ view: "rooms" })}>← Rooms</a>
      </p>
      <div class="title">
        <h1 id="room-title" data-testid="room-title">
          <bdi>{room}</bdi>
        </h1>
        <LineChip line={snapshot.line} />
        <span class="spring" />
        {store.isService && <Actions store={store} room={room} />}
      </div>
      <Ended store={store} />
      <Now store={store} now={now} />
      <RoomReportsSection store={store} room={room} />
      <Shards of={snapshot.shown?.shards} />
      <Connections store={store} room={room} now={now} />
      <ProblemLine problem={store.statsProblem} />
      {known && <Used known={known} now={now} />}
    </section>
  );
}

function Actions({ store, room }: RoomPageProps) {
  return (
    <>
      <EdgedButton testId="drain" onClick={() => store.ask({ kind: "drain", room })}>
        Drain…
      </EdgedButton>
      <EdgedButton isGrave testId="delete" onClick={() => store.ask({ kind: "delete", room })}>
        Delete…
      </EdgedButton>
    </>
  );
}

const LINE_WORDS: Readonly<Record<Line["state"], string>> = {
  connecting: "Connecting…",
  live: "Live",
  reconnecting: "Reconnecting…",
  ended: "Not live",
};

function LineChip({ line }: { readonly line: Line }) {
  return (
    <span
      class={`chip line-${line.state}`}
      role="status"
      data-testid="line"
      data-state={line.state}
      title="The live figures neither wake the room nor keep it awake"
    >
      {LINE_WORDS[line.state]}
    </span>
  );
}

function Ended({ store }: { readonly store: AdminStore }) {
  const { line } = store.snapshot;
  if (line.state !== "ended") return null;
  return (
    <div class="ended">
      <ProblemLine problem={line.problem} />
      <EdgedButton testId="watch-again" onClick={() => store.go(store.route)}>
        Watch again
      </EdgedButton>
    </div>
  );
}

function Now({ store, now }: { readonly store: AdminStore; readonly now: number }) {
  const { shown, aheadMs } = store.snapshot;
  if (!shown) return null;
  const { members, connectionCount, lastSeq, awake, at } = shown;
  const lately = messagesLately(store.snapshot, now);
  return (
    <dl class="figures" data-testid="now">
      <Figure label="People" value={countText(members)} testId="people" />
      <Figure label="Connections" value={countText(connectionCount)} note="yours among them" testId="connections" />
      <Figure
        label="Messages"
        value={countText(lastSeq)}
        note={`${countText(lately.count)} ${lately.isWhole ? "in the last minute" : "since you opened this"}`}
        testId="messages"
      />
      <Figure
        label="Last woken by"
        value={awake.cause}
        note={`${awakeDetail(awake.detail)}${spanText(now + aheadMs - awake.since)} ago`}
        testId="woken-by"
      />
      <Figure label="Last change" value={`${spanText(now + aheadMs - at)} ago`} note="a quiet room may be asleep" />
    </dl>
  );
}

/** A dash stands for no value. */
const awakeDetail = (detail: string): string => (detail === "" || detail === "-" ? "" : `${detail}, `);

interface UsedProps {
  readonly known: Usage;
  readonly now: number;
}

function Used({ known: { use, monthlyCost, lately }, now }: UsedProps) {
  return (
    <>
      <h2>
        What it used{" "}
        <span class="hint" title={exactTime(use.since)}>
          in {spanText(now - use.since)}, as last reported
        </span>
      </h2>
      <dl class="figures">
        <Figure label="Posted" value={countText(use.posted)} note={numberOf(use.delivered, "delivery", "deliveries")} />
        <Figure label="In" value={bytesText(use.bytesIn)} note={numberOf(use.framesIn, "frame")} />
        <Figure label="Out" value={bytesText(use.bytesOut)} note={numberOf(use.framesOut, "frame")} />
        <Figure label="Rows written" value={countText(use.rows)} note={`and ${numberOf(use.alarmsSet, "alarm")} set`} />
        <Figure label="Requests" value={countText(use.requests)} />
        <Figure label="Awake" value={awakeShare(use, now - use.since)} note={spanText(use.awakeSeconds * 1000)} />
      </dl>
      <p class="hint" data-testid="lately">
        Lately {rateText(wakesOf(lately))} wakes, {rateText(lately.rows + lately.alarmsSet)} rows and{" "}
        {rateText(lately.delivered)} deliveries an hour; awake {awakeShare(lately, HOUR_MS)} of the time.
      </p>
      <div class="halves">
        <section aria-labelledby="wakes-title" class="panel">
          <h3 id="wakes-title">{numberOf(wakesOf(use), "wake")}</h3>
          <WakeTable use={use} />
        </section>
        <section aria-labelledby="cost-title" class="panel">
          <h3 id="cost-title">A month</h3>
          <CostTable average={monthlyCost} lately={lately.monthlyCost} />
        </section>
      </div>
    </>
  );
}

const COST_LINES = [
  ["rows", "Rows"],
  ["requests", "Requests"],
  ["duration", "Time awake"],
  ["total", "Together"],
] as const;

function CostTable({ average, lately }: { readonly average: Cost | null; readonly lately: Cost | null }) {
  if (!average || !lately) return <p class="muted">Available after ten minutes of counting.</p>;
  return (
    <>
      <table class="cost" data-testid="cost">
        <thead>
          <tr>
            <td />
            <th scope="col">as lately</th>
            <th scope="col">on average</th>
          </tr>
        </thead>
        <tbody>
          {COST_LINES.map(([line, words]) => (
            <tr key={line} class={line}>
              <th scope="row">{words}</th>
              <td>{dollarsText(lately[line])}</td>
              <td>{dollarsText(average[line])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">
        The cost of 30 days like the last hours, or like the whole counted time, before the amounts that the plan
        includes.
      </p>
    </>
  );
}
