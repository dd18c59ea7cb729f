// Development server: rebuilds the page on every load and forwards API requests to a Tidings server.
//
//   tidings serve                                (in a home)
//   npm run dev [-- http://127.0.0.1:7878 8000]  (here), then http://127.0.0.1:8000/

import { execFile } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const server = new URL(process.argv[2] ?? "http://127.0.0.1:7878");
const port = Number(process.argv[3] ?? 8000);
const folder = await mkdtemp(path.join(os.tmpdir(), "tidings-page-"));
const KINDS = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".html": "text/html; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};

/** Forwards a request to the Tidings server. */
function pass(request, response) {
  const { host: _, ...headers } = request.headers;
  const forwarded = http.request(
    server,
    { path: request.url, headers: { ...headers, host: server.host } },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  forwarded.on("error", () => response.writeHead(502).end(JSON.stringify({ error: `no response from ${server}` })));
  forwarded.end();
}

/** The Content-Security-Policy of the real server. */
async function policy() {
  const answer = await fetch(new URL("/healthz", server)).catch(() => undefined);
  return answer?.headers.get("content-security-policy") ?? "default-src 'self'";
}

http
  .createServer(async (request, response) => {
    const name = new URL(request.url, "http://localhost").pathname.slice(1) || "index.html";
    if (name.startsWith("api/")) return pass(request, response);
    try {
      if (name === "index.html")
        await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, "build.mjs"), folder]);
      const bytes = await readFile(path.join(folder, path.basename(name)));
      response
        .writeHead(200, {
          "content-type": KINDS[path.extname(name)],
          "content-security-policy": await policy(),
          "cache-control": "no-store",
        })
        .end(bytes);
    } catch (error) {
      response
        .writeHead(error.code === "ENOENT" ? 404 : 500, { "content-type": "text/plain" })
        .end(String(error.stderr ?? error.message));
    }
  })
  .listen(port, "127.0.0.1", () => console.log(`page: http://127.0.0.1:${port}/  API: ${server}`));
