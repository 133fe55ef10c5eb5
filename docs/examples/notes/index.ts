// The Worker of the notes.
import { connect } from "parley-rooms/socketio";
import type { NotesObject } from "./notes.ts";

export { NotesObject } from "./notes.ts";

interface Env {
  readonly NOTES: DurableObjectNamespace<NotesObject>;
}

export default {
  fetch: (request, env) => connect(request, { object: (board) => env.NOTES.getByName(board) }),
} satisfies ExportedHandler<Env>;
