// A third-party application whose rooms send events to each other: races report to the league, and the league asks them.
import { Namespace, SocketIoObject, type Handlers, type ServerHandlers, type Socket } from "parley-rooms/socketio";

interface Incoming {
  finish: (points: number) => void;
  standings: (races: string[], ack: (standings: unknown) => void) => void;
}
interface Outgoing {
  scored: (race: string, player: string, points: number) => void;
}
interface Between {
  scored: (player: string, points: number) => void;
  best: () => number;
}
type Player = Socket<Outgoing, { name: string }>;

export class League extends Namespace<Incoming, Outgoing, { name: string }, Between> {
  #best = 0;

  readonly handlers: Handlers<Incoming, Player> = {
    finish: (player, points) => {
      this.#best = Math.max(this.#best, points);
      this.serverSideEmit("league", "scored", player.peek().name, points);
    },
    standings: async (_player, races, ack) => {
      try {
        ack(await this.serverSideEmitWithAck(races, "best"));
      } catch (error) {
        const { message, responses } = error as Error & { responses: number[] };
        ack({ message, responses });
      }
    },
  };

  override readonly serverHandlers: ServerHandlers<Between> = {
    scored: (race, player, points) => void this.emit("scored", race, player, points),
    best: (from) => {
      if (from === "nobody-answers") return new Promise(() => {});
      return this.#best;
    },
  };

  override authorize = ({ auth }: { auth: Readonly<Record<string, unknown>> }) => ({
    accepted: true as const,
    data: { name: String(auth["name"]) },
  });
}

export class LeagueRoom extends SocketIoObject {
  readonly namespaces = { "/": new League() };
}
