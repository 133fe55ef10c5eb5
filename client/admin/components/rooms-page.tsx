// The page of all rooms, with their recent use and its cost. The figures come from the lobbies and wake no room. The app draws it.
import { useState } from "preact/hooks";
import { isRoomName } from "parley-rooms/client";

import { SearchField, submitting, VERBATIM } from "../../page/components/controls.tsx";
import { useNow } from "../../page/components/hooks.ts";
import { bare } from "../../page/state/names.ts";
import { exactTime } from "../../page/state/times.ts";
import { ROOMS_LISTED_MAX, type Sort } from "../state/admin-api.ts";
import type { ListedRoom } from "../state/answers.ts";
import type { AdminStore } from "../state/admin-store.ts";
import {
  awakeShare,
  countText,
  dollarsText,
  HOUR_MS,
  matching,
  numberOf,
  rateText,
  spanText,
  sumsOf,
  wakesOf,
} from "../state/figures.ts";
import { openReportsOf } from "../state/reports-queue.ts";
import { hashOf } from "../state/route.ts";
import { Figure, ProblemLine, Table, WakeBar, type Column } from "./parts.tsx";

const SORT_WORDS: Readonly<Record<Sort, string>> = {
  traffic: "Most traffic",
  connections: "Most connections",
  rows: "Most rows written",
  wakes: "Most wakes",
  awake: "Longest awake",
  cost: "Most expensive",
};

export function RoomsPage({ store }: { readonly store: AdminStore }) {
  const { rooms, wanted } = store;
  const now = useNow(5000);
  const shown = rooms && matching(rooms, wanted);
  return (
    <section aria-labelledby="rooms-title">
      <div class="title">
        <h1 id="rooms-title">Rooms</h1>
        <span class="hint" data-testid="listed-at">
          {store.listedAt !== undefined && `as last reported; loaded ${spanText(now - store.listedAt)} ago`}
        </span>
      </div>
      <ProblemLine problem={store.listProblem} />
      {rooms && <Sums rooms={rooms} />}
      <Tools store={store} shown={shown?.length ?? 0} />
      {shown && shown.length > 0 && (
        <Table
          class="rooms-table"
          items={shown}
          columns={columnsAt(now)}
          row={({ room }) => ({ key: room, "data-testid": "room-row", "data-room": room })}
        />
      )}
      {shown?.length === 0 && <p class="empty">{wanted === "" ? "No rooms yet." : "No such room in the list."}</p>}
    </section>
  );
}

function Sums({ rooms }: { readonly rooms: readonly ListedRoom[] }) {
  const sums = sumsOf(rooms);
  const isAll = rooms.length < ROOMS_LISTED_MAX;
  return (
    <dl class="figures">
      <Figure
        label="Rooms"
        value={countText(sums.rooms)}
        note={isAll ? undefined : "only the first of them"}
        testId="sum-rooms"
      />
      <Figure label="Occupied" value={countText(sums.occupied)} />
      <Figure label="People" value={countText(sums.members)} testId="sum-people" />
      <Figure label="Connections" value={countText(sums.connections)} testId="sum-connections" />
      <Figure
        label="A month, as lately"
        value={dollarsText(sums.monthlyCostLately)}
        note={
          sums.monthlyCost === null
            ? "known after ten minutes of counting"
            : `on average ${dollarsText(sums.monthlyCost)}, before the plan's included amounts`
        }
        testId="sum-cost"
      />
    </dl>
  );
}

function Tools({ store, shown }: { readonly store: AdminStore; readonly shown: number }) {
  const [isWrong, setWrong] = useState(false);
  const { wanted } = store;
  const open = (): void => {
    const room = wanted.trim();
    const isName = isRoomName(room);
    setWrong(!isName);
    if (!isName) return;
    store.find("");
    location.hash = hashOf({ view: "room", room });
  };
  return (
    <form class="tools" role="search" onSubmit={submitting(open)}>
      <label>
        <span>Find or open a room</span>
        <SearchField
          label="Find or open a room"
          testId="find"
          placeholder="Name; Enter opens it"
          {...VERBATIM}
          value={wanted}
          aria-invalid={isWrong}
          onText={(text) => {
            setWrong(false);
            store.find(text);
          }}
        />
      </label>
      <label>
        <span>Order</span>
        <select
          data-testid="sort"
          value={store.sort}
          onChange={({ currentTarget }) => void store.sortBy(currentTarget.value as Sort)}
        >
          {Object.entries(SORT_WORDS).map(([sort, words]) => (
            <option key={sort} value={sort}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <p class="unseen" role="status">
        {isWrong ? "This is not a room name" : wanted === "" ? "" : numberOf(shown, "room")}
      </p>
    </form>
  );
}

function RoomCell({ listed }: { readonly listed: ListedRoom }) {
  const { room, name = "" } = listed;
  const open = openReportsOf(listed);
  return (
    <>
      <a href={hashOf({ view: "room", room })}>{room}</a> {name !== "" && <bdi class="hint">{bare(name)}</bdi>}
      {open > 0 && (
        <span class="tag reported-tag" data-testid="open-reports">
          {numberOf(open, "report")}
        </span>
      )}
    </>
  );
}

const LATELY = "Over the last hours; an hour ago counts half";

/** @param now by this browser's clock */
const columnsAt = (now: number): Array<Column<ListedRoom>> => [
  { label: "Room", cell: (listed) => <RoomCell listed={listed} /> },
  { label: "People", class: "number", testId: "people", cell: ({ members }) => countText(members) },
  { label: "Connections", class: "number", cell: ({ connections }) => countText(connections) },
  { label: "Messages", class: "number", cell: ({ use }) => countText(use.posted) },
  {
    label: "Wakes an hour",
    class: "wakes-cell",
    hint: LATELY,
    cell: ({ lately }) => (
      <>
        <span>{rateText(wakesOf(lately))}</span>
        <WakeBar use={lately} />
      </>
    ),
  },
  { label: "Awake", class: "number", hint: LATELY, cell: ({ lately }) => awakeShare(lately, HOUR_MS) },
  {
    label: "Rows an hour",
    class: "number",
    hint: LATELY,
    cell: ({ lately }) => rateText(lately.rows + lately.alarmsSet),
  },
  {
    label: "A month",
    class: "number",
    hint: LATELY,
    title: ({ monthlyCost }) =>
      monthlyCost ? `On average ${dollarsText(monthlyCost.total)}` : "After ten minutes of counting",
    cell: ({ lately }) => dollarsText(lately.monthlyCost?.total ?? null),
  },
  {
    label: "Last message",
    class: "number wide",
    title: ({ lastActivity }) => (lastActivity === null ? undefined : exactTime(lastActivity)),
    cell: ({ lastActivity }) => (lastActivity === null ? "–" : `${spanText(now - lastActivity)} ago`),
  },
];
