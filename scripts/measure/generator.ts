// The load generator of the bench, a process of its own so that its CPU time never mixes with another's. Takes a job as JSON on standard input
// and prints its reading as one JSON line. bench.ts starts it.
import { text } from "node:stream/consumers";

import { Run, type Job } from "./run.ts";
import { noTokens, signed } from "./tokens.ts";

export interface GeneratorJob extends Job {
  /** Signs a token for every member; absent if the server asks for none. */
  readonly jwtSecret?: string;
}

const { jwtSecret, ...job } = JSON.parse(await text(process.stdin)) as GeneratorJob;
const tokenFor = jwtSecret === undefined ? noTokens : signed({ secret: jwtSecret });
const reading = await new Run(job, { tokenFor }).run();
process.stdout.write(`${JSON.stringify(reading)}\n`, () => process.exit(0));
