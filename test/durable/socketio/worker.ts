// The third parties of these tests, behind the project's own Worker.
export { BoardRoom } from "../../../docs/examples/board/index.ts";
export { GuestbookRoom } from "./guestbook.ts";
export { Halls } from "./halls.ts";
export { LeagueRoom } from "./league.ts";
export { WhiteboardRoom } from "./whiteboard.ts";
export { default } from "../../../src/worker/socketio.ts";
