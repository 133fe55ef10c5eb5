// Races that report to a league, each in an object of its own. docs/socket-io-reference.md shows a part of it.
import {
  connect,
  Namespace,
  SocketIoObject,
  type ConnectRequest,
  type Handlers,
  type ServerHandlers,
  type Socket,
} from "parley-rooms/socketio";

interface ClientToServerEvents {
  finish: (points: number) => void;
  compare: (races: string[], ack: (best: number[] | { error: string }) => void) => void;
}
interface ServerToClientEvents {
  scored: (race: string, player: string, points: number) => void;
}
type Player = Socket<ServerToClientEvents, { name: string }>;

interface Between {
  scored: (player: string, points: number) => void;
  best: () => number;
}

class Race extends Namespace<ClientToServerEvents, ServerToClientEvents, { name: string }, Between> {
  override serverHandlers: ServerHandlers<Between> = {
    scored: (race, player, points) => this.emit("scored", race, player, points), // `race`: the room that tells it
    best: () => this.best,
  };

  handlers: Handlers<ClientToServerEvents, Player> = {
    finish: (player, points) => {
      if (points > this.best) this.ctx.storage.kv.put("best", points);
      this.serverSideEmit("league", "scored", player.data.name, points);
    },
    compare: async (_player, races, ack) => {
      try {
        ack?.(await this.serverSideEmitWithAck(races, "best")); // in the order of `races`
      } catch (error) {
        ack?.({ error: (error as Error).message }); // its `responses` are those that came
      }
    },
  };

  get best(): number {
    return this.ctx.storage.kv.get<number>("best") ?? 0;
  }

  override authorize({ auth }: ConnectRequest) {
    return { accepted: true as const, data: { name: String(auth["name"]) } };
  }
}

export class RaceObject extends SocketIoObject {
  namespaces = { "/": new Race() };
}

export default {
  fetch: (request, env) => connect(request, { object: (room) => env.RACE.getByName(room) }),
} satisfies ExportedHandler<{ RACE: DurableObjectNamespace<RaceObject> }>;
