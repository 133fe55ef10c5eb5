// A built-in feature: one value for all that belongs to it, each layer's part as that layer declares it. createParley (src/entries) hands the
// parts to their layers, so no layer imports a feature.
import type { InObject } from "../objects/feature.ts";
import type { InWorker } from "../worker/feature.ts";

export interface BuiltIn extends InObject, InWorker {}
