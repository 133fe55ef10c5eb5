// What rooms and the Worker can ask of a lobby, each with one answer.
import type { RoomPage, RoomQuery, RoomReport } from "../protocol/room-list.ts";

export interface LobbyDoor {
  /** A room says how it is doing. */
  report(report: RoomReport): Promise<void>;

  list(query: RoomQuery): Promise<RoomPage>;
}
