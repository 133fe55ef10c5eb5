// The routes of the chat: health, metrics, the Socket.IO endpoint, guests, the HTTP API and its description. Called by parley.ts.
import { logProblem } from "../settings/log.ts";
import { withApiCors } from "./api/api-cors.ts";
import { describeApi } from "./api/openapi.ts";
import { answerCall } from "./api/routes.ts";
import { GUEST_PATH, issueGuestToken } from "./api/guest.ts";
import { enginePath } from "./connect/base-path.ts";
import { answerEngineRequest } from "./connect/engine-endpoint.ts";
import { deploymentOf, methodOf, type Visit } from "./deployment.ts";
import { countAnswer, noteConnect } from "./http/answers-counted.ts";
import { refusePassing } from "./http/endpoint-refusals.ts";
import { refuseMethod, refuseRequest } from "./http/refusals.ts";
import { showMetrics } from "./metrics/metrics-route.ts";
import type { Later } from "./metrics/worker-meter.ts";
import type { Mount } from "./mount.ts";
import { VERSION } from "./version.ts";

/** @param path behind the base path */
export type ChatWorker = (request: Request, path: string, env: object, later?: Later) => Promise<Response>;

export function chatWorker(mount: Mount): ChatWorker {
  let description: string | undefined;

  /** A route for each address; another method than its own is answered 405. */
  const single: Readonly<
    Record<string, readonly [method: string, answer: (visit: Visit) => Response | Promise<Response>]>
  > = {
    "/metrics": ["GET", ({ request, deployment }) => showMetrics(request, deployment, VERSION)],
    [GUEST_PATH]: [
      "POST",
      (visit) => {
        visit.route = "guest";
        return issueGuestToken(visit.request, visit.deployment);
      },
    ],
    "/openapi.json": [
      "GET",
      () =>
        new Response((description ??= describeApi(VERSION, mount.basePath)), {
          headers: { "Content-Type": "application/json" },
        }),
    ],
  };

  async function route(visit: Visit): Promise<Response> {
    const { request, path, deployment } = visit;
    const engine = enginePath(path);
    // The headers of an upgrade's answer are immutable: nothing may touch them.
    if (engine) return noteConnect(visit, await answerEngineRequest(request, deployment.endpoint, engine.room));
    if (!Object.hasOwn(single, path)) return (await answerCall(visit)) ?? refuseRequest("NOT_FOUND", "No such address");
    const [method, answer] = single[path]!;
    return methodOf(request) === method ? answer(visit) : refuseMethod([method]);
  }

  /** The answer of a route, whatever happens in it. */
  async function answer(visit: Visit): Promise<Response> {
    try {
      return await route(visit);
    } catch (error) {
      const { method, url } = visit.request;
      logProblem("request.failed", "a request failed", error, { method, path: new URL(url).pathname });
      visit.deployment.meter.count("problems:worker");
      return refusePassing(error) ?? refuseRequest("INTERNAL", "Something went wrong here; try again");
    }
  }

  async function visited(request: Request, path: string, env: object, later?: Later): Promise<Response> {
    const deployment = deploymentOf(mount, env);
    if (path === "/health" && methodOf(request) === "GET") return showHealth(deployment !== undefined);
    // Fails closed: with a bad setting or no key the Worker refuses all requests, and the log says why.
    if (!deployment)
      return refuseRequest("MISCONFIGURED", "The server is not set up yet; its log says what is missing");
    const visit: Visit = { request, path, deployment };
    const response = await carryThrough(
      request,
      withApiCors(visit, () => answer(visit)),
      later,
    );
    countAnswer(visit, response, later);
    return response;
  }

  return async (request, ...rest) => {
    const response = await visited(request, ...rest);
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}

function showHealth(isHealthy: boolean): Response {
  const status = isHealthy ? "healthy" : "misconfigured";
  return Response.json({ status, timestamp: Date.now(), version: VERSION }, { status: isHealthy ? 200 : 503 });
}

/**
 * Carries a request through when its client goes before the answer. The platform stops such a request at its next await: a place
 * that it took would never be given back, and a key set that others wait for never come. Polls are left out: they last as long
 * as their room is quiet, and hold nothing.
 */
function carryThrough(request: Request, answering: Promise<Response>, later?: Later): Promise<Response> {
  if (!/[?&]sid=/.test(request.url)) later?.waitUntil(answering);
  return answering;
}
