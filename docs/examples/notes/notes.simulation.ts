// The simulation of the notes: its clients, and the invariants that hold through every fault. Run by simulation.test.ts.
import { simulation } from "parley-rooms/testing/simulation";
import { NotesObject } from "./notes.ts";

export default simulation(NotesObject, {
  memory: () => ({ acked: new Set<string>(), seen: new Set<string>() }),
  clients: {
    writer: {
      people: [2, 4],
      listen: ({ socket, memory }) => {
        socket.on("added", ({ id }) => memory.seen.add(id));
      },
      steps: {
        add: async (person, chance) => {
          const note = { id: `${person.name}-${chance.between(0, 1e9)}`, text: "milk" };
          // A note without an answer may have arrived, so it is sent again.
          let answer: { ok: true } | undefined;
          for (let tries = 0; tries < 5 && !answer; tries++) answer = await person.ask("add", note);
          if (answer) person.memory.acked.add(note.id);
        },
      },
    },
  },
  invariants: {
    "a note is kept": ({ memory, object, demand }) => {
      const kept = new Set(
        object("a")
          .rows("SELECT id FROM notes")
          .map(({ id }) => id),
      );
      for (const id of [...memory.acked, ...memory.seen]) demand(kept.has(id), `${id} is gone`);
    },
    "a note is there once": ({ object, demand }) => {
      const doubles = object("a").rows<{ id: string }>("SELECT id FROM notes GROUP BY id HAVING count(*) > 1");
      for (const { id } of doubles) demand(false, `${id} is there twice`);
    },
  },
  atRest: {
    "everybody gets all notes": async ({ people, object, demand }) => {
      const count = object("a").rows("SELECT id FROM notes").length;
      for (const person of people) {
        const notes = await person.ask("list");
        demand(notes?.length === count, `${person.name} got ${notes?.length} of ${count} notes`);
      }
    },
  },
});
