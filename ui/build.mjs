// Bundles the page: one script, one style sheet, one document, into crates/serve/assets or the folder given as argument.
//
// The result is committed, so that Tidings builds without Node. `made-of.txt` has the digests of the sources and of each
// output: `cargo test` compares them, and `.ci/run` rebuilds and compares the bytes.

import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const target = path.resolve(process.argv[2] ?? path.join(here, "..", "crates", "serve", "assets"));
const SOURCES = ["build.mjs", "package.json", "package-lock.json", "src", "tsconfig.json"];

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Names of all source files with slashes, in byte order. */
async function sources() {
  const names = [];
  for (const name of SOURCES) {
    if (path.extname(name)) names.push(name);
    else {
      for (const entry of await readdir(path.join(here, name), { recursive: true, withFileTypes: true })) {
        if (entry.isFile())
          names.push(path.relative(here, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"));
      }
    }
  }
  return names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

const made = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.ts", style: "src/style.css" },
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
  write: false,
});

const results = new Map(made.outputFiles.map((file) => [path.basename(file.path), file.contents]));
/** The licences of bundled third-party packages. */
async function notices() {
  const packages = new Set(
    Object.keys(made.metafile.inputs).flatMap((name) => name.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []),
  );
  const parts = [...packages].sort().map(async (name) => {
    const { version } = JSON.parse(await readFile(path.join(here, "node_modules", name, "package.json"), "utf8"));
    return `${name} ${version}\n\n${(await readFile(path.join(here, "node_modules", name, "LICENSE"), "utf8")).trim()}\n`;
  });
  return Buffer.from((await Promise.all(parts)).join(`\n${"-".repeat(72)}\n\n`));
}

results.set("notices.txt", await notices());
for (const name of ["index.html", "icon.svg"]) results.set(name, await readFile(path.join(here, "src", name)));

const lines = (
  await Promise.all(
    (await sources()).map(async (name) => `${sha256(await readFile(path.join(here, name)))}  ${name}\n`),
  )
).join("");
const labels = [`${sha256(lines)}  sources\n`];
for (const [name, bytes] of [...results].sort()) {
  await writeFile(path.join(target, name), bytes);
  labels.push(`${sha256(bytes)}  ${name}\n`);
}
await writeFile(path.join(target, "made-of.txt"), labels.join(""));
