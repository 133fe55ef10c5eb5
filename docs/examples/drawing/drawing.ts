// A board whose events are checked by schemas, of Valibot here, and typed by them. docs/socket-io-reference.md shows it.
import { checked, Namespace } from "parley-rooms/socketio";
import * as v from "valibot";

const Place = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const Line = v.tuple([Place, Place, Place, Place]);

export class Drawing extends Namespace {
  handlers = {
    draw: checked(Line, (socket, line, ack: (answer: { ok: true }) => void) => {
      socket.broadcast.emit("draw", line);
      ack({ ok: true });
    }),
    label: checked([Place, Place, v.string()], (socket, x, y, text) => {
      socket.broadcast.emit("label", x, y, text);
    }),
  };
}
