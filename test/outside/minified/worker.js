// A chat under a binding of another name, and the races of docs/examples/league, which find the objects of their class by themselves. Run by
// minified.test.ts.
import { ChatRoom, createParley } from "parley-rooms";
import races, { RaceObject } from "../../../docs/examples/league/index.ts";

export { RaceObject };
export class TeamRoom extends ChatRoom {}

const teams = createParley({
  basePath: "/teams",
  bindings: { room: "TEAMS" },
  authenticate: () => ({ user: "ada", name: "Ada" }),
});

export default {
  async fetch(request, env, ctx) {
    if (new URL(request.url).pathname === "/classes") return Response.json([RaceObject.name, TeamRoom.name]);
    return (await teams.handle(request, env, ctx)) ?? races.fetch(request, env);
  },
};
