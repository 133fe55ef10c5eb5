// A third-party application whose rooms send events to each other: races report to the league, and the league asks them.
import { SocketObject } from "../../../durable/socketio/socket-object.ts";
import type { Counts } from "../../../src/metrics/meter.ts";
import { Namespace, type Handlers } from "../../../src/socketio/server/namespace.ts";
import { Server } from "../../../src/socketio/server/server.ts";
import type { ServerHandlers } from "../../../src/socketio/server/server-side.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import { OPTIONS } from "./options.ts";

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
  override readonly authenticate = "anybody";
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

interface LeagueEnv {
  readonly LEAGUE: DurableObjectNamespace<LeagueRoom>;
}

export class LeagueRoom extends SocketObject<LeagueEnv> {
  constructor(ctx: DurableObjectState, env: LeagueEnv) {
    super(ctx, env, (_ctx, _env, ports) => ({
      server: new Server(OPTIONS, { static: { "/": new League() } }, ports),
      limits: OPTIONS,
      rooms: env.LEAGUE,
    }));
  }

  /** What was counted here. */
  async counted(): Promise<Counts> {
    return this.activity.meter.read();
  }
}
