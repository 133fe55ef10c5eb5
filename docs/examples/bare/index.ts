// A Worker whose rooms have pinned messages, and none of the features that every chat has by default.
import { createParley } from "parley-rooms/bare";
import { pins } from "parley-rooms/features";

const parley = createParley({ features: [pins()] });

export class ChatRoom extends parley.ChatRoom {}

export default parley;
