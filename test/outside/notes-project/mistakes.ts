// Mistakes in a simulation that the compiler has to find. Compiled by templates.test.ts.
import { simulation } from "parley-rooms/testing/simulation";
import { NotesObject } from "./notes.ts";

export default simulation(NotesObject, {
  memory: () => ({ count: 0 }),
  clients: {
    writer: {
      listen: ({ socket, memory }) => {
        socket.on("added", ({ id }) => void (memory.count += id.length));
        // @ts-expect-error -- there is no such event
        socket.on("removed", () => {});
      },
      steps: {
        add: async (person) => {
          const answer = await person.ask("add", { id: "1", text: "milk" });
          // @ts-expect-error -- the ack has no such field
          void answer?.seq;
          // @ts-expect-error -- a note has a text
          await person.ask("add", { id: "1" });
          // @ts-expect-error -- there is no such event
          person.emit("remove", "1");
          // @ts-expect-error -- the memory has no such field
          void person.memory.sum;
        },
      },
    },
  },
  // @ts-expect-error -- there is no such fault
  faults: { crash: 1, earthquake: 2 },
});
