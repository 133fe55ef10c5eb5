// `npx parley-rooms doctor --url`: its findings about a deployment, by the answers of that.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";

import { examineLive } from "../../../scripts/doctor/live.ts";

describe("a deployment", () => {
  /** @returns the codes of the findings at a server that answers so */
  async function codesAt(answer: RequestListener, base = ""): Promise<string[]> {
    const server = createServer(answer);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const findings = await examineLive(`http://127.0.0.1:${port}${base}`, "1.0.0");
    return findings.map(({ level, code }) => `${level} ${code}`);
  }
  const answering =
    (health: object, handshake: [status: number, text: string]): RequestListener =>
    ({ url }, response) => {
      const isHealth = url!.endsWith("/health");
      response.statusCode = isHealth ? 200 : handshake[0];
      response.end(isHealth ? JSON.stringify(health) : handshake[1]);
    };
  const OPEN: [number, string] = [200, '0{"sid":"x","upgrades":[]}'];
  const HEALTHY = { status: "healthy", version: "1.0.0" };

  it.each<[string, string[], object, [number, string]]>([
    ["that is well", [], HEALTHY, OPEN],
    ["without long-polling", [], HEALTHY, [400, '{"code":0,"message":"Transport unknown"}']],
    ["that wants a token first", [], HEALTHY, [401, "{}"]],
    ["without a key", ["error live.misconfigured"], { status: "misconfigured" }, OPEN],
    ["of another version", ["warning live.version"], { ...HEALTHY, version: "0.9.0" }, OPEN],
    ["with Socket.IO alone", ["note live.no-health"], {}, OPEN],
    ["that is another website", ["note live.no-health", "error live.no-handshake"], {}, [200, "<html>"]],
  ])("%s", async (_case, codes, health, handshake) => {
    expect(await codesAt(answering(health, handshake))).toEqual(codes);
  });

  it("is asked behind its base path", async () => {
    const asked: string[] = [];
    await codesAt((request, response) => {
      asked.push(request.url!);
      answering(HEALTHY, OPEN)(request, response);
    }, "/chat/");
    expect(asked).toEqual(["/chat/health", "/chat/rooms/doctor/socket.io/?EIO=4&transport=polling"]);
  });

  it("that is not there, or has no address", async () => {
    expect((await examineLive("http://127.0.0.1:1", "1.0.0")).map(({ code }) => code)).toEqual([
      "live.unreachable",
      "live.unreachable",
    ]);
    expect((await examineLive("ftp://example.com", "1.0.0")).map(({ code }) => code)).toEqual(["live.url"]);
  });
});
