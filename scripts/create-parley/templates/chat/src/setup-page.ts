// The page of a deployment without a key: it names the settings. Delete this file, and its use in index.ts, once you have one.

export function setupPage(request: Request): Response {
  if (new URL(request.url).pathname !== "/") return new Response("Not found", { status: 404 });
  return new Response(PAGE, {
    status: 503,
    headers: { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" },
  });
}

const PAGE = `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width" />
  <title>One step to go</title>
  <style>
    body { max-width: 42rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.6 system-ui, sans-serif; }
    pre { overflow-x: auto; padding: 1rem; border: 1px solid #8884; border-radius: 0.5rem; }
    @media (prefers-color-scheme: dark) { body { background: #111418; color: #e8eaed; } }
  </style>
  <h1>One step to go</h1>
  <p>The chat refuses everybody until it has the secret <code>JWT_SECRET</code>, which verifies the tokens of your users.</p>
  <h2>Deployed</h2>
  <pre>openssl rand -base64 32 | npx wrangler secret put JWT_SECRET</pre>
  <p>Or in the dashboard: your Worker, Settings, Variables and Secrets. Give the same secret to your backend, which signs the tokens.</p>
  <h2>On your machine</h2>
  <pre>echo "JWT_SECRET=$(openssl rand -base64 32)" &gt; .dev.vars</pre>
  <p>Then start <code>npm run dev</code> again. README.md has the rest.</p>
</html>
`;
