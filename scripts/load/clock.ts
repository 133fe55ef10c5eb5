// One clock for all processes of a load test on this machine, so that one can time the messages of another.
import { performance } from "node:perf_hooks";

const US_PER_MS = 1000;
const NS_PER_US = 1000n;
const offsetUs = Number(process.hrtime.bigint() / NS_PER_US) - performance.now() * US_PER_MS;

/** Microseconds since the machine was started, or since another moment that all its processes share. */
export const nowUs = (): number => offsetUs + performance.now() * US_PER_MS;
