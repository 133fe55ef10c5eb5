// The list of rooms as the lobbies know them, what they use lately, and what that comes to. Looking at it wakes none of them.
import { useState } from "preact/hooks";

import { isRoomName } from "../../../src/protocol/room-name.ts";
import { useNow } from "../../page/components/hooks.ts";
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
import { hashOf } from "../state/route.ts";
import { Figure, ProblemLine, WakeBar } from "./parts.tsx";

const SORT_WORDS: Readonly<Record<Sort, string>> = {
  traffic: "Most traffic",
  connections: "Most connections",
  rows: "Most rows written",
  wakes: "Most wakes",
  awake: "Longest awake",
  cost: "Most expensive",
};

export function RoomsView({ store }: { readonly store: AdminStore }) {
  const { rooms, wanted } = store;
  const now = useNow(5000);
  const shown = rooms && matching(rooms, wanted);
  return (
    <section aria-labelledby="rooms-title">
      <div class="title">
        <h1 id="rooms-title">Rooms</h1>
        <span class="hint" data-testid="listed-at">
          {store.listedAt !== undefined && `as they last said; listed ${spanText(now - store.listedAt)} ago`}
        </span>
      </div>
      <ProblemLine problem={store.listProblem} />
      {rooms && <Sums rooms={rooms} />}
      <Tools store={store} shown={shown?.length ?? 0} />
      {shown && shown.length > 0 && <RoomTable rooms={shown} now={now} />}
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
        note={isAll ? undefined : "those that come first"}
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
            ? "said after ten minutes of counting"
            : `on average ${dollarsText(sums.monthlyCost)}, before what the plan includes`
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
    <form
      class="tools"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        open();
      }}
    >
      <label>
        <span>Find or open a room</span>
        <input
          type="search"
          data-testid="find"
          placeholder="Name; Enter opens it"
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          value={wanted}
          aria-invalid={isWrong}
          onInput={({ currentTarget }) => {
            setWrong(false);
            store.find(currentTarget.value);
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

const LATELY = "Of the last hours: what is an hour old counts half";

function RoomTable({ rooms, now }: { readonly rooms: readonly ListedRoom[]; readonly now: number }) {
  return (
    <div class="table-box">
      <table class="rooms-table">
        <thead>
          <tr>
            <th scope="col">Room</th>
            <th scope="col" class="number">
              People
            </th>
            <th scope="col" class="number">
              Connections
            </th>
            <th scope="col" class="number">
              Messages
            </th>
            <th scope="col" title={LATELY}>
              Wakes an hour
            </th>
            <th scope="col" class="number" title={LATELY}>
              Awake
            </th>
            <th scope="col" class="number" title={LATELY}>
              Rows an hour
            </th>
            <th scope="col" class="number" title={LATELY}>
              A month
            </th>
            <th scope="col" class="number">
              Last message
            </th>
          </tr>
        </thead>
        <tbody>
          {rooms.map((room) => (
            <RoomRow key={room.room} of={room} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RoomRow({ of, now }: { readonly of: ListedRoom; readonly now: number }) {
  const { room, members, connections, use, monthlyCost, lately, lastActivity } = of;
  return (
    <tr data-testid="room-row" data-room={room}>
      <th scope="row">
        <a href={hashOf({ view: "room", room })}>{room}</a>
      </th>
      <td class="number" data-label="People" data-testid="people">
        {countText(members)}
      </td>
      <td class="number" data-label="Connections">
        {countText(connections)}
      </td>
      <td class="number" data-label="Messages">
        {countText(use.posted)}
      </td>
      <td class="wakes-cell" data-label="Wakes an hour">
        <span>{rateText(wakesOf(lately))}</span>
        <WakeBar use={lately} />
      </td>
      <td class="number" data-label="Awake">
        {awakeShare(lately, HOUR_MS)}
      </td>
      <td class="number" data-label="Rows an hour">
        {rateText(lately.rows + lately.alarmsSet)}
      </td>
      <td
        class="number"
        data-label="A month"
        title={monthlyCost ? `On average ${dollarsText(monthlyCost.total)}` : "After ten minutes of counting"}
      >
        {dollarsText(lately.monthlyCost?.total ?? null)}
      </td>
      <td
        class="number wide"
        data-label="Last message"
        title={lastActivity === null ? undefined : exactTime(lastActivity)}
      >
        {lastActivity === null ? "–" : `${spanText(now - lastActivity)} ago`}
      </td>
    </tr>
  );
}
