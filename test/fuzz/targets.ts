// The list of all fuzz targets. Called by fuzz.test.ts and scripts/fuzz.ts.
import { GIVEN_TARGETS } from "./targets/given.ts";
import { STORED_TARGETS } from "./targets/stored.ts";
import { TEXT_TARGETS } from "./targets/texts.ts";
import { WIRE_TARGETS } from "./targets/wire.ts";

export const TARGETS = [...WIRE_TARGETS, ...GIVEN_TARGETS, ...STORED_TARGETS, ...TEXT_TARGETS];
