// A Worker whose rooms have polls, pinned messages and reports of abuse.
import { createParley, defaultFeatures, type Feature } from "parley-rooms";
import { pins, reports } from "parley-rooms/features";
import { Polls } from "./polls.ts";

export { Lobby } from "parley-rooms";

const polls: Feature = { name: "polls", room: (room) => new Polls(room) };

const parley = createParley({ features: [...defaultFeatures(), polls, pins({ max: 5 }), reports()] });

export class ChatRoom extends parley.ChatRoom {}

export default parley;
