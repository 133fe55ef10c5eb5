// The third parties of these tests, behind the project's own Worker: applications, and rooms of the chat with rules of their own.
export { BoardRoom } from "../../../docs/examples/board/index.ts";
export { ChatRoom as HttpRuledRoom } from "../../../docs/examples/rules/by-http.ts";
export { ChatRoom as ServiceRuledRoom } from "../../../docs/examples/rules/by-service.ts";
export { ChatRoom as RuledRoom } from "../../../docs/examples/rules/index.ts";
export { GuestbookRoom } from "./guestbook.ts";
export { Halls } from "./halls.ts";
export { LeagueRoom } from "./league.ts";
export { Rules } from "./rules.ts";
export { WhiteboardRoom } from "./whiteboard.ts";
export { default } from "../../../src/worker/socketio.ts";
