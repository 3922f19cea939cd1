// A program of its own, so that what a bundler takes in memory goes with it: node dashboard-bundler.ts FOLDER.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile, type OutputFile } from 'esbuild';

const WEB = resolve(import.meta.dirname, '../web');
const MEDIA: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css' };

/** What the page shows where its script does not run; it stays hidden while the script may still come. */
const WITHOUT_MODULES = 'The dashboard needs a browser that runs JavaScript modules; the command muster needs none.';

/** Scripts that the entry needs at once, so that the browser fetches them at once. */
function neededBy(outputs: Metafile['outputs'], path: string, found = new Set<string>()): ReadonlySet<string> {
  found.add(path);
  for (const { path: next, kind } of outputs[path]?.imports ?? [])
    if (kind === 'import-statement' && !found.has(next)) neededBy(outputs, next, found);
  return found;
}

function pageOf(metafile: Metafile): string {
  const [entry = ''] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint !== undefined) ?? [];
  const style = metafile.outputs[entry]?.cssBundle ?? '';
  const at = (path: string): string => `/assets/${basename(path)}`;
  const scripts = [...neededBy(metafile.outputs, entry)].filter((path) => path !== entry);
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width"><title>Muster</title>',
    '<link rel="icon" href="data:,">',
    `<link rel="stylesheet" href="${at(style)}">`,
    ...scripts.map((path) => `<link rel="modulepreload" href="${at(path)}">`),
    `<script type="module" src="${at(entry)}"></script></head>`,
    `<body><div id="app"><p class="without-modules">${WITHOUT_MODULES}</p></div></body></html>`,
  ].join('');
}

/** Level 9 pays: a file is packed once and sent to every browser. */
function write(folder: string, name: string, contents: Uint8Array): void {
  writeFileSync(join(folder, `${name}.gz`), gzipSync(contents, { level: 9 }));
}

const [folder = ''] = process.argv.slice(2);
const { metafile, outputFiles } = await build({
  entryPoints: { dashboard: join(WEB, 'main.tsx') },
  absWorkingDir: WEB,
  outdir: folder,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  minify: true,
  metafile: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none',
  tsconfig: join(WEB, 'tsconfig.json'),
});
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const built: readonly Pick<OutputFile, 'path' | 'contents'>[] = outputFiles;
for (const { path, contents } of built) write(folder, basename(path), contents);
write(folder, 'index.html', Buffer.from(pageOf(metafile)));
const mediaTypes = Object.fromEntries(
  built.map(({ path }) => [basename(path), MEDIA[/\.\w+$/.exec(path)?.[0] ?? ''] ?? 'application/octet-stream']),
);
writeFileSync(join(folder, 'files.json'), JSON.stringify({ 'index.html': 'text/html', ...mediaTypes }));
const inputs = Object.keys(metafile.inputs).map((input) => resolve(WEB, input));
process.stdout.write(JSON.stringify([...inputs, import.meta.filename]));
