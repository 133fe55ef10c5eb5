// The recovery of stock servers in random stories of joins, events, breaks and crashes: each client gets what was sent to it, once and in order.
import { expect, it } from "vitest";

import { runs } from "../host/properties.ts";
import { dice } from "./host/dice.ts";
import { Client, RecoveringObject, settled, UNNOTICED_MS, WINDOW_MS } from "./host/recovering-object.ts";

it.each(Array.from({ length: runs(20).numRuns }, (_, at) => at + 1))(
  "nothing is doubled, nothing is missing, whatever breaks (seed %i)",
  async (seed) => {
    const roll = dice(seed);
    const object = new RecoveringObject();
    const clients = await Promise.all([0, 1, 2, 3].map(() => new Client(object).connect()));
    const back = async (client: Client): Promise<void> => {
      await client.connect();
      expect(client.recovered).toBe(true);
    };
    const expected = clients.map((): unknown[] => []);
    const rooms = clients.map(() => new Set<string>());
    const awaySinceMs = clients.map(() => object.nowMs);
    const NAMES = ["red", "blue", "green"];
    /** Called when the object notices that a connection broke. */
    const notices = clients.map(() => (): void => {});
    for (let step = 0; step < 120; step++) {
      const at = roll(clients.length);
      const client = clients[at]!;
      const room = NAMES[roll(NAMES.length)]!;
      const isHere = client.connection !== undefined;
      switch (roll(9)) {
        case 0:
          if (!isHere) break;
          client.emit("join", room);
          rooms[at]!.add(room);
          break;
        case 1:
          if (!isHere) break;
          client.emit("leave", room);
          rooms[at]!.delete(room);
          break;
        case 2:
        case 3:
          object.io.emit("said", step);
          for (const list of expected) list.push(step);
          break;
        case 4:
        case 5:
          object.io.to(room).emit("said", step);
          for (const [one, list] of expected.entries()) if (rooms[one]!.has(room)) list.push(step);
          break;
        case 6:
          if (isHere) {
            client.emit("others", step);
            for (const [one, list] of expected.entries()) if (one !== at) list.push(step);
          }
          break;
        case 7:
          if (!isHere) notices[at]!();
          else if (roll(2)) notices[at] = client.vanish();
          else client.break();
          break;
        default:
          if (roll(4) === 0) {
            object.die();
          } else if (!isHere) await back(client);
          notices[at] = () => {};
      }
      // A crash loses what has just been done, if no client got a packet of it.
      await settled();
      object.commit();
      object.wait(roll(8000));
      for (const [one, other] of clients.entries()) {
        if (other.connection) awaySinceMs[one] = object.nowMs;
        const awayMs = object.nowMs - awaySinceMs[one]!;
        // A ping is not answered in time.
        if (awayMs > UNNOTICED_MS - 10_000) notices[one]!();
        if (awayMs > WINDOW_MS - 10_000) await back(other);
      }
    }
    for (const one of clients) if (!one.connection) await back(one);
    for (const [at, { got }] of clients.entries()) expect(got, `client ${at}`).toEqual(expected[at]);
    expect(object.problems).toEqual([]);
  },
);
