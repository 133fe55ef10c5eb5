// The bench's load generator, a process of its own so that its CPU time never mixes with the server's. Takes a job as
// JSON on standard input and prints its reading as one JSON line.
import { text } from "node:stream/consumers";

import { runBig } from "./big.ts";
import { runEcho } from "./echo.ts";
import { runFollowers } from "./followers.ts";
import { runIdle } from "./idle.ts";
import type { Job, Reading } from "./job.ts";
import { runRace } from "./race.ts";
import { runStorm } from "./storm.ts";
import { runTraffic } from "./traffic.ts";

function run(job: Job): Promise<Reading> {
  switch (job.kind) {
    case "traffic":
      return runTraffic(job.server, job);
    case "big":
      return runBig(job.server, job);
    case "echo":
      return runEcho(job.server, job);
    case "idle":
      return runIdle(job.server, job);
    case "storm":
      return runStorm(job.server, job);
    case "followers":
      return runFollowers(job.server, job);
    case "race":
      return runRace(job.server, job);
  }
}

const reading = await run(JSON.parse(await text(process.stdin)) as Job);
// Exits with the sockets open: closing them one by one would only make the server tell the rest.
process.stdout.write(`${JSON.stringify(reading)}\n`, () => process.exit(0));
