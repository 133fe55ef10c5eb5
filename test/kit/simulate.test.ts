// Simulates the notes of docs/testing.md, as they are and with bugs planted. Real threads and bundles: nothing here is replaced but the runtime
// of the notes.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

import { assertHolds, simulate, type PlantedBug } from "./testing.ts";

const NOTES = path.join(import.meta.dirname, "../../docs/examples/notes/notes.simulation.ts");

const file = "notes/notes.ts";
const KNOWN_IN_A_FIELD: readonly PlantedBug[] = [
  { file, find: "(id TEXT PRIMARY KEY, text TEXT)", replace: "(id TEXT, text TEXT)" },
  {
    file,
    find: "  override onStart() {\n",
    replace: "  readonly #known = new Set<string>();\n\n  override onStart() {\n",
  },
  {
    file,
    find: 'const stored = this.ctx.storage.sql.exec("INSERT OR IGNORE INTO',
    replace:
      'if (this.#known.has(id)) return ack({ ok: true });\n      const stored = this.ctx.storage.sql.exec("INSERT INTO',
  },
  {
    file,
    find: 'this.emit("added", { id, text });',
    replace: 'this.#known.add(id), this.emit("added", { id, text });',
  },
];

const SHOWN_EARLY: PlantedBug = {
  file,
  find: "add: (_client, { id, text }, ack) => {",
  replace:
    'add: async (_client, { id, text }, ack) => {\n this.emit("added", { id, text });\n await scheduler.wait(5);',
};

describe("simulate", () => {
  it("finds nothing wrong with the notes", async () => {
    const result = await simulate(NOTES, { seeds: 6 });
    expect(result).toMatchObject({ runs: 6, failures: [] });
    expect(result.counts["sleeps"]).toBeGreaterThan(0);
    expect(result.done).toMatchObject({ "step writer add": expect.any(Number), "fault crash": expect.any(Number) });
    expect(() => assertHolds(result)).not.toThrow();
  });

  it("goes on after failures, as `npm run simulate` does, and reports an object that cannot be made as trouble", async () => {
    const planted = [{ file, find: '{ "/": new Notes() }', replace: "null as never" }];
    const { runs, failures } = await simulate(NOTES, { seeds: 2, planted, failuresMax: Infinity, shrinks: 0 });
    expect([runs, failures.map(({ seed }) => seed)]).toEqual([2, [1, 2]]);
    expect(failures[0]).toMatchObject({
      invariant: "no trouble",
      message: expect.stringContaining("is no Namespace with handlers"),
    });
  });

  it("finds, shrinks and repeats: the ids that are known stand in a field, and are lost when the object sleeps", async () => {
    const breaks = "a note is there once";
    const result = await simulate(NOTES, { seeds: 60, planted: KNOWN_IN_A_FIELD });
    const [failure] = result.failures;
    expect(failure).toMatchObject({ invariant: breaks, seed: expect.any(Number) });
    const { plan, steps, outcome } = failure!;
    expect(steps.length).toBeLessThanOrEqual(6);
    expect(() => assertHolds(result)).toThrow(`seed ${failure!.seed} breaks "${breaks}" after`);
    const again = { planted: KNOWN_IN_A_FIELD, plan: JSON.parse(JSON.stringify(plan)), shrinks: 0 };
    expect(await simulate(NOTES, again)).toMatchObject({
      runs: 1,
      failures: [{ invariant: breaks, steps, shrinkRuns: 0 }],
    });
    expect(outcome.violations[0]).toMatchObject({ invariant: breaks });
  });

  it("finds, and does not shrink: a note is shown before it is stored", async () => {
    const { failures } = await simulate(NOTES, { seeds: 60, planted: [SHOWN_EARLY], shrinks: 0 });
    expect(failures).toMatchObject([{ invariant: "a note is kept", shrinkRuns: 0 }]);
  });
});

describe("a simulation that cannot run", () => {
  it.each([
    [
      "a bug for a file that it has not",
      [{ file: "notes/letters.ts", find: "", replace: "" }],
      "the simulation has no file notes/letters.ts, where a bug is to be planted",
    ],
    [
      "a bug for a text that is not there",
      [{ file, find: "no such text", replace: "" }],
      'notes/notes.ts: "no such text" stands there 0 times, not once',
    ],
    [
      "a module that throws as it is loaded",
      [{ file, find: "class Notes extends", replace: 'throw new Error("not today");\nclass Notes extends' }],
      "Error: not today",
    ],
  ])("says so: %s", async (_what, planted, message) => {
    await expect(simulate(NOTES, { seeds: 1, planted })).rejects.toThrow(message);
  });

  it.each([
    [{ seeds: -3 }, "simulate: seeds must be a whole number from 1, not -3"],
    [{ workers: 1.5 }, "simulate: workers must be a whole number from 1, not 1.5"],
    [{ minutes: "5" }, "simulate: minutes must be a number above 0, not 5"],
    [{ seed: 5 }, 'simulate: there is no option "seed"; there are planted, '],
  ])("says so: the options %j", async (options, message) => {
    await expect(simulate(NOTES, options as object)).rejects.toThrow(message);
  });

  it.each([
    [
      "an option",
      "invariants: {",
      "invariant: {",
      'simulation: there is no option "invariant"; there are rooms, clients, ',
    ],
    [
      "a fault",
      "  atRest: {",
      "  faults: { crashes: 3 } as never,\n  atRest: {",
      'simulation: faults: there is no fault "crashes"',
    ],
    [
      "an option of clients",
      "people: [2, 4]",
      "persons: [2, 4]",
      'simulation: clients.writer: there is no option "persons"',
    ],
  ])("says so: %s that is misspelled", async (_what, find, replace, message) => {
    const planted = [{ file: "notes/notes.simulation.ts", find, replace }];
    await expect(simulate(NOTES, { seeds: 1, planted })).rejects.toThrow(message);
  });

  it("reports a world in which nobody is admitted", async () => {
    const planted = [
      {
        file,
        find: "  handlers: Handlers",
        replace: '  authorize = () => ({ accepted: false as const, message: "no key" });\n  handlers: Handlers',
      },
    ];
    const { failures } = await simulate(NOTES, { seeds: 1, planted, shrinks: 0 });
    expect(failures[0]).toMatchObject({
      invariant: "somebody gets in",
      outcome: { violations: [{ message: expect.stringContaining("no key") }] },
    });
  });

  it("says so: without esbuild", async () => {
    const withoutEsbuild = `import { registerHooks } from "node:module";
      registerHooks({ resolve(name, context, next) { if (name === "esbuild") throw new Error("none"); return next(name, context); } });
      const { simulate } = await import(${JSON.stringify(path.join(import.meta.dirname, "testing.ts"))});
      await simulate(${JSON.stringify(NOTES)}).catch(({ message }) => console.log(message));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", withoutEsbuild]);
    expect(stdout).toBe("a simulation is bundled with esbuild, which is not installed: `npm install -D esbuild`\n");
  });

  it("starts nothing in an object whose constructor throws", async () => {
    const planted = [{ file, find: "new Notes()", replace: '(() => { throw new Error("not made"); })()' }];
    const { failures } = await simulate(NOTES, { seeds: 1, planted, shrinks: 0 });
    const troubles = failures[0]!.outcome.violations.map(({ message }) => message);
    expect(troubles.filter((message) => !message.includes("Error: not made"))).toEqual([]);
  });
});
