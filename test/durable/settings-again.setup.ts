// Files of tests share workerd and its modules. Each of them has the Worker read its settings again, and count from zero.
// Run by vitest before each file of the project "object".
import { env } from "cloudflare:workers";
import { afterAll } from "vitest";

import { forgetDeployments } from "../../src/worker/deployment.ts";

afterAll(() => forgetDeployments(env));
