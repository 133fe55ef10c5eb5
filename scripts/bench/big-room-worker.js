// Wraps the Worker of `npm run serve` for the scenario `big` of the bench: a shard can be killed, and loses its memory and its connections
// as in a crash. Plain JavaScript, which esbuild bundles for workerd.
//   POST /bench/kill?room=NAME&shard=NUMBER
import { direct as whole } from "../serve/entry.js";
import { RoomShard as Shard } from "../../src/index.ts";

export * from "../serve/entry.js";
export { default } from "../serve/entry.js";

const KILL_PATH = "/bench/kill";

export class RoomShard extends Shard {
  die() {
    this.ctx.abort("killed by the bench");
  }
}

export const direct = {
  async fetch(request, env, ctx) {
    if (request.method !== "POST" || !request.url.includes(KILL_PATH)) return whole.fetch(request, env, ctx);
    const { searchParams } = new URL(request.url);
    // The call breaks off with the object.
    await env.ROOM_SHARD.getByName(`${searchParams.get("room")}/${searchParams.get("shard")}`)
      .die()
      .catch(() => undefined);
    return new Response(null, { status: 204 });
  },
};
