// Lets tests of the cores yield to those of objects and of the whole server, which run beside them in `npm test` and watch clocks. Run by vitest
// before each file of the project "core".
import { setPriority } from "node:os";

/** A `nice` value. Threads and programs that a test starts inherit it. */
const NICENESS = 10;

setPriority(NICENESS);
