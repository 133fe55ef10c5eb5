// The least that a room of hibernating sockets can be: accepts, echoes, sleeps. Plain JavaScript, which workerd loads as it is.
import { DurableObject } from "cloudflare:workers";

export class Room extends DurableObject {
  fetch() {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  webSocketMessage(socket, text) {
    socket.send(text);
  }
}

export default {
  fetch: (request, env) => env.ROOM.getByName(new URL(request.url).searchParams.get("room")).fetch(request),
};
