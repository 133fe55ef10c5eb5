// Tests which web pages may connect to a server that lists none. test/worker/attacks-requests.test.ts has the answers that the others get.
import { expect, it } from "vitest";

import { isOriginAllowed } from "../../src/worker/http/request-origin.ts";
import { FOREIGN_ORIGINS } from "../attacks/requests.ts";

const isAllowed = (Origin: string): boolean =>
  isOriginAllowed("same", new Request("http://parley.test/", { headers: { Origin } }));

it("a page of its own may", () => expect(isAllowed("http://parley.test")).toBe(true));

it.each(FOREIGN_ORIGINS)("%s may not", (origin) => expect(isAllowed(origin)).toBe(false));
