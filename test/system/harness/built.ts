// What system tests start again and again is made once, before the first of them: the program as few files that load
// fast, the agent, and an archive of it that is small. Tests of how a server makes them start it without.
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type OutputFile } from 'esbuild';
import type { TestProject } from 'vitest/node';
import type { Packed } from '../../../src/installer/archive-cache.ts';
import type { Bundle } from '../../../src/installer/bundle.ts';
import { findMade, noteMade } from '../../../src/installer/bundle-cache.ts';
import { openInstaller } from '../../../src/installer/installer.ts';
import { makeAgentProgram } from '../../../src/program/agent-program.ts';
import { readVersion } from '../../../src/program/version.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** A stable place: what Node has compiled of it is found again at the next start. Not that of a checkout which this is a copy of. */
const KEPT = join(ROOT, `node_modules/.cache/muster-system-${hash('sha256', ROOT).slice(0, 8)}`);

export interface Built {
  /** Stands for `src/main.ts`. */
  readonly program: string;
  readonly agent: Bundle;
  /** The agent with a script in place of its runtime, which starts the Node of this machine. */
  readonly archive: { readonly folder: string; readonly platform: string; readonly packed: Packed };
}

declare module 'vitest' {
  interface ProvidedContext {
    built: Built | undefined;
  }
}

const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Files that are found beside a source file stay there. */
function inPlace(path: string): string {
  const here: Readonly<Record<string, string>> = {
    dirname: join(path, '..'),
    filename: path,
    url: new URL(`file://${path}`).href,
  };
  return readFileSync(path, 'utf8').replace(/\bimport\.meta\.(dirname|filename|url)\b/g, (_, name: string) =>
    JSON.stringify(here[name]),
  );
}

async function bundleProgram(): Promise<{ readonly outputs: readonly OutputFile[]; readonly inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(ROOT, 'src/main.ts')],
    absWorkingDir: ROOT,
    outdir: '/',
    outExtension: { '.js': '.mjs' },
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    banner: { js: REQUIRE },
    // CommonJS that is imported by name when it is needed: a bundle would know only its default.
    external: ['@aws-sdk/*'],
    plugins: [
      {
        name: 'in place',
        setup(builder) {
          builder.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) =>
            path.includes('/node_modules/') ? undefined : { contents: inPlace(path), loader: 'ts' },
          );
        },
      },
    ],
  });
  return { outputs: outputFiles, inputs: Object.keys(metafile.inputs).map((input) => join(ROOT, input)) };
}

async function buildProgram(version: string): Promise<string> {
  const kept = join(KEPT, 'program');
  const before = findMade(kept, version, join(ROOT, 'src/main.ts'));
  if (before) return before.path;
  const { outputs, inputs } = await bundleProgram();
  const whole = hash('sha256', Buffer.concat(outputs.map(({ contents }) => contents)));
  const folder = join(kept, whole.slice(0, 12));
  if (!existsSync(folder)) {
    const draft = `${folder}.${process.pid}`;
    mkdirSync(draft, { recursive: true });
    for (const { path, contents } of outputs) writeFileSync(join(draft, basename(path)), contents);
    renameSync(draft, folder);
  }
  const path = join(folder, 'main.mjs');
  const files = [...inputs, import.meta.filename];
  await noteMade(kept, { path, sha256: hash('sha256', readFileSync(path)) }, { version, files });
  return path;
}

/** As a server packs it, with a script for a runtime. */
async function packLightly(bundle: Bundle): Promise<Built['archive']> {
  const folder = join(KEPT, 'light');
  const runtime = { platform: `${process.platform}-${process.arch}`, path: join(folder, 'node') };
  const script = `#!/bin/sh\nexec '${process.execPath}' "$@"\n`;
  mkdirSync(folder, { recursive: true });
  if (!existsSync(runtime.path) || readFileSync(runtime.path, 'utf8') !== script) writeFileSync(runtime.path, script);
  const facts = () => ({ broker: '', otherBrokers: [], brokerCa: undefined, originCa: undefined });
  const installer = openInstaller({ bundle, folder, runtimes: [runtime], facts });
  await installer.offer();
  const { name = '', sha256 = '' } = installer.offered()?.[0] ?? {};
  return { folder, platform: runtime.platform, packed: { name, sha256, bytes: statSync(join(folder, name)).size } };
}

/** For vitest: before the first system test. */
export default async function setup(project: TestProject): Promise<void> {
  const version = readVersion();
  const [program, agent] = await Promise.all([buildProgram(version), makeAgentProgram(KEPT, version)]);
  project.provide('built', { program, agent, archive: await packLightly(agent) });
}
