// Search in the messages of a room: the event `search`, and its HTTP call.
import type { Feature } from "../../extension/extension.ts";
import type { BuiltIn } from "../built-in.ts";
import { SEARCH_CALLS } from "./http.ts";
import { Searching } from "./searching.ts";
import { SqlSearchIndex } from "./sql-search-index.ts";

const FEATURE: BuiltIn = {
  name: "search",
  roomPart: (room, { readAllowance }, { storage }) => new Searching(room, new SqlSearchIndex(storage), readAllowance),
  http: SEARCH_CALLS,
};

export const search = (): Feature => FEATURE;
