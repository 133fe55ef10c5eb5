// The setting COMPRESSION and the runtime's flag have to agree.
import { describe, expect, it } from "vitest";

import { compressionProblem, withCompression } from "../../src/settings/compression-flags.ts";

describe("a local runtime", () => {
  it("starts as the setting says, and keeps the other flags", () => {
    expect(withCompression(["no_web_socket_compression", "other"], true)).toEqual(["other", "web_socket_compression"]);
    expect(withCompression(["no_web_socket_compression"], false)).toEqual(["no_web_socket_compression"]);
    expect(withCompression([], false)).toEqual(["no_web_socket_compression"]);
  });
});

describe("a deployment", () => {
  it.each([
    [
      true,
      { web_socket_compression: false },
      /^COMPRESSION: on needs compatibility_flags without "no_web_socket_compression"/,
    ],
    [false, { web_socket_compression: true }, /^COMPRESSION: off needs .*no_web_socket_compression/],
  ])("that means %s and has %o says what is missing", (isMeant, runtime, problem) => {
    expect(compressionProblem(isMeant, runtime)).toMatch(problem);
  });

  it.each([
    [true, { web_socket_compression: true }],
    [false, { web_socket_compression: false }],
    [true, {}],
    [false, undefined],
  ])("that means %s and has %o is in order", (isMeant, runtime) => {
    expect(compressionProblem(isMeant, runtime)).toBeUndefined();
  });
});
