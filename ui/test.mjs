// Runs the unit tests: bundles test/*.test.js with the TypeScript sources they import, then starts Node's test runner.

import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { build } from "esbuild";

const tests = path.join(import.meta.dirname, "test");
const outdir = await mkdtemp(path.join(os.tmpdir(), "tidings-ui-test-"));
const names = (await readdir(tests)).filter((name) => name.endsWith(".test.js")).sort();
await build({
  absWorkingDir: tests,
  entryPoints: names,
  outdir,
  bundle: true,
  format: "esm",
  platform: "node",
  outExtension: { ".js": ".mjs" },
  logLevel: "warning",
});
const files = names.map((name) => path.join(outdir, name.replace(/\.js$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
await rm(outdir, { recursive: true });
process.exit(status ?? 1);
