import { expect, test } from 'vitest';
import { TABLES } from '#core/store.ts';
import { codeMatches, files, program, rule } from './rule.ts';
import { importsOf, isTest, packagesOf, parsed, type SourceFile } from './tree.ts';

// A noun of its own is a folder with an index: it needs no line below. A feature that owns machines (computers, say)
// registers its use with `machines`, which launches, parks, deletes and sweeps them for every feature.
const FEATURE_MAY_IMPORT = ['clouds', 'access', 'journal', 'machines', 'kube'];
const features = files.flatMap(({ path }) => /^src\/([^/]+)\/index\.ts$/.exec(path)?.[1] ?? []);

// Each folder may import itself, those named here, and what those may import.
const INWARD: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(features.map((folder) => [folder, FEATURE_MAY_IMPORT])),
  core: [],
  gotemplate: ['core'],
  host: ['core'],
  boot: ['core'],
  rest: ['core'],
  wire: ['core'],
  packer: ['core'],
  config: ['core', 'gotemplate'],
  store: ['core'],
  kube: ['core'],
  clouds: ['config', 'store', 'kube'],
  access: ['config', 'store'],
  journal: ['config', 'store'],
  machines: ['clouds', 'journal'],
  autoscaler: ['core'],
  pools: ['clouds', 'access', 'journal'],
  workers: ['autoscaler', 'machines', 'access'],
  foresight: ['autoscaler', ...FEATURE_MAY_IMPORT],
  sessions: ['clouds', 'access', 'journal'],
  files: ['store', 'host'],
  fakes: ['core', 'host'],
  providers: ['core', 'boot', 'rest', 'host', 'kube', 'gotemplate', 'packer', 'fakes'],
  broker: ['wire', 'pools', 'workers', 'sessions', 'edge'],
  api: ['pools', 'workers', 'sessions', 'files', 'foresight', 'broker'],
  agent: ['config', 'wire', 'host'],
  cli: ['core'],
  client: [],
  web: [],
  edge: ['core', 'access'],
  installer: ['core', 'boot'],
  program: ['api', 'broker', 'files', 'edge', 'installer', 'agent', 'cli', 'providers', ...features],
  // Composes the program in the process of a user's script.
  library: ['program'],
  sim: ['program', 'fakes'],
  conformance: ['sim'],
};

function reach(folder: string, seen = new Set<string>()): Set<string> {
  if (seen.has(folder)) return seen;
  seen.add(folder);
  for (const next of INWARD[folder] ?? []) reach(next, seen);
  return seen;
}

const folderOf = (path: string): string => (path.split('/').length > 2 ? (path.split('/')[1] as string) : '');

rule(
  'imports point inward',
  (file) => {
    if (file.folder === '') return [];
    if (!(file.folder in INWARD)) return [`${file.folder} has no line in INWARD; say there what it may import`];
    const allowed = reach(file.folder);
    return importsOf(file)
      .filter(({ path }) => path.startsWith('src/') && !allowed.has(folderOf(path)))
      .filter(({ path, isType }) => !(file.folder === 'cli' && isType && path.startsWith('src/api/')))
      .filter(({ path, isType }) => !(file.folder === 'web' && isType && path.startsWith('src/api/wire/')))
      .map(({ path }) => `imports ${path}; have it handed in, or read the table through store.view`);
  },
  {
    breaks: [
      ['src/core/a.ts', "import { b } from '../store/b.ts';"],
      ['src/pools/a.ts', "import type { B } from '#workers/b.ts';"],
      ['src/cli/a.ts', "import type { A } from '../api/wire/a.ts';\nimport { b } from '../api/wire/b.ts';"],
      ['src/cli/a.ts', "import { type B } from '../api/wire/b.ts';"],
      ['src/cli/a.ts', "export * from '../api/wire/b.ts';"],
      ['src/cli/a.ts', "const b = await import('../api/wire/b.ts');"],
      ['src/store/a.ts', 'import "#config/b.ts";'],
      ['src/unheard-of/a.ts', ''],
      ['src/web/a.tsx', "import { b } from '../api/wire/b.ts';"],
      ['src/web/a.tsx', "import type { B } from '../api/b.ts';"],
      ['src/web/a.tsx', "import { b } from '#core/b.ts';"],
    ],
    keeps: [
      ['src/web/a.tsx', "import type { A } from '../api/wire/a.ts';"],
      ['src/cli/a.ts', "import type { A } from '../api/wire/a.ts';"],
      ['src/core/a.ts', "// import { b } from '#store/b.ts'\nconst said = `from '#store/b.ts'`;"],
    ],
  },
);

rule(
  'a provider imports only core, boot, rest, host, kube, gotemplate, packer and its own folder',
  (file) => {
    if (file.folder !== 'providers') return [];
    const own = file.path.split('/').slice(0, 3).join('/');
    return importsOf(file)
      .filter(
        ({ path }) =>
          !path.startsWith(`${own}/`) && !/^src\/(core|boot|rest|host|kube|gotemplate|packer|fakes)\//.test(path),
      )
      .map(({ path }) => `imports ${path}; a provider gets all else through its Context`);
  },
  {
    breaks: [
      ['src/providers/a/backend.ts', "import { b } from '../b/backend.ts';"],
      ['src/providers/a/backend.ts', "import { b } from '#config/b.ts';"],
    ],
    keeps: [['src/providers/a/deep/backend.ts', "import { b } from '../b.ts';\nimport { c } from '#boot/c.ts';"]],
  },
);

rule(
  'only fake clouds, the simulator and tests import fakes',
  (file) => {
    if (/^src\/(fakes|sim|conformance|providers\/[^/]+\/fake)\//.test(file.path)) return [];
    return importsOf(file)
      .filter(({ path }) => path.startsWith('src/fakes/'))
      .map(({ path }) => `imports ${path}; what the program needs belongs elsewhere`);
  },
  {
    breaks: [
      ['src/providers/a/backend.ts', "import { b } from '#fakes/b.ts';"],
      ['src/program/a.ts', "const b = await import('#fakes/b.ts');"],
    ],
    keeps: [['src/providers/a/fake/cloud.ts', "import { b } from '#fakes/b.ts';"]],
  },
);

rule(
  'no part of the program imports a fake cloud: the generated list loads it when it is started',
  (file) => {
    if (/^src\/(sim|conformance|providers\/[^/]+\/fake)\//.test(file.path)) return [];
    return importsOf(file)
      .filter(({ path }) => /^src\/providers\/[^/]+\/fake\//.test(path))
      .map(({ path }) => `imports ${path}; use providers/simulations.gen.ts`);
  },
  { breaks: [['src/program/a.ts', "const b = await import('../providers/aws/fake/b.ts');"]] },
);

rule(
  'one folder writes each table',
  (file) =>
    codeMatches(file, /\b(?:put|drop)\(\s*['"`](\w+)['"`]/g)
      .map((name) => name as keyof typeof TABLES)
      .filter((name) => name in TABLES && TABLES[name].writer !== file.folder)
      .map((name) => `writes ${name}; ask ${TABLES[name].writer}/ to do it`),
  {
    breaks: [
      ['src/pools/a.ts', "put('workers', row);"],
      ['src/workers/a.ts', "const link = 'http://a'; drop('sessions', id);"],
    ],
    keeps: [['src/pools/a.ts', "put('pools', row); // put('workers', row)"]],
  },
);

const CLOCKS = new Set([
  'src/core/clock.ts',
  'src/core/virtual-clock.ts',
  // The one zero that all threads share.
  'src/store/lease-end.ts',
  // That of the browser.
  'src/web/live/clock.ts',
]);

rule(
  'only core/clock.ts knows time',
  (file) =>
    CLOCKS.has(file.path)
      ? []
      : codeMatches(
          file,
          /\b(Date\.now\b|new Date\(\)|performance\.now\b|set(?:Timeout|Interval|Immediate)\b(?! =)|process\.(?:hrtime|uptime)\b|node:timers\b)/g,
        ).map((found) => `uses ${found}; take a Clock instead`),
  {
    breaks: [
      ['src/core/a.ts', 'const now = Date.now();'],
      ['src/core/a.ts', 'run({ now: Date.now });'],
      ['src/core/a.ts', "const a = 'http://b'; setTimeout(c, 1);"],
      ['src/core/a.ts', "import { setTimeout as sleep } from 'node:timers/promises';"],
      ['src/core/a.ts', 'const at = new Date();'],
      ['src/core/a.ts', 'process.hrtime.bigint();'],
    ],
    keeps: [['src/core/a.ts', '/* Date.now() */ const at = new Date(atMs);']],
  },
);

rule(
  'only config/ knows the environment',
  (file) =>
    file.folder !== 'config' &&
    (/\bprocess\s*(\.\s*env\b|\[\s*'env')|\benv\b[^;]*\} = process\b/.test(parsed(file).code) ||
      /import \{[^}]*\benv\b[^}]*\} from 'node:process'/.test(parsed(file).code))
      ? ['reads process.env; add the variable to config/environment.ts and have it handed in']
      : [],
  {
    breaks: [
      ['src/core/a.ts', 'const home = process.env.HOME;'],
      ['src/core/a.ts', "const home = process['env'];"],
      ['src/core/a.ts', 'const { env } = process;'],
      ['src/core/a.ts', "import { env } from 'node:process';"],
      ['src/core/a.ts', "const a = 'http://b' + process.env.C;"],
    ],
    keeps: [['src/config/a.ts', 'const home = process.env.HOME;']],
  },
);

// `isIP` and its kin look at text; they open no connection.
const isOnlyAboutAddresses = (file: SourceFile, name: string): boolean =>
  name === 'node:net' && /import \{ (?:isIPv?[46]?(?:, )?)+ \} from 'node:net'/.test(parsed(file).code);

const EDGES = new Set(['providers', 'fakes', 'kube', 'store', 'broker', 'api', 'edge', 'agent', 'cli', 'web']);
const NETWORK = /^(node:(net|http|https|http2|tls|dgram|dns)(\/.*)?|@grpc\/grpc-js|undici|fastify|ws|pg)$/;

// A `fetch` that was handed in is the business of the part that handed it in.
const networkCalls = (code: string): string[] =>
  /[{,]\s*fetch\s*[,}]/.test(code)
    ? []
    : [...code.matchAll(/(?<=(?:\bawait|\breturn|=>?|[(,?:])\s*)(?:fetch\(|new WebSocket\()/g)].map(([found]) => found);

rule(
  'only the edges know the network',
  (file) =>
    EDGES.has(file.folder)
      ? []
      : [
          ...packagesOf(file).filter((name) => NETWORK.test(name) && !isOnlyAboutAddresses(file, name)),
          ...networkCalls(parsed(file).bare),
        ].map((name) => `uses ${name}; only ${[...EDGES].join(', ')} speak to the network`),
  {
    breaks: [
      ['src/core/a.ts', "import { connect } from 'node:net';"],
      ['src/core/a.ts', "import { lookup } from 'node:dns/promises';"],
      ['src/pools/a.ts', "const { Client } = await import('pg');"],
      ['src/pools/a.ts', 'await fetch(address);'],
    ],
    keeps: [
      ['src/core/a.ts', "import { isIP } from 'node:net';"],
      ['src/pools/a.ts', 'await context.fetch(address);'],
      ['src/pools/a.ts', 'const a = ({ fetch }) => fetch(b);'],
    ],
  },
);

// Hashes are pure, and randomness comes in by `node:crypto` as time does by the clock.
const PURE = new Set(['node:crypto', 'zod', 'yaml']);
const PURE_FOLDERS: Readonly<Record<string, RegExp>> = { core: /^$/, wire: /^@bufbuild\/protobuf(\/|$)/ };

rule(
  'core and wire are pure: no files, no processes, no sockets',
  (file) => {
    const more = PURE_FOLDERS[file.folder];
    return !more || isTest(file.path)
      ? []
      : packagesOf(file)
          .filter((name) => !PURE.has(name) && !more.test(name) && !isOnlyAboutAddresses(file, name))
          .map((name) => `imports ${name}; have it handed in, or move the file to host/, boot/ or an edge`);
  },
  {
    breaks: [
      ['src/core/a.ts', "import { readFileSync } from 'node:fs';"],
      ['src/core/a.ts', "import { execFile } from 'node:child_process';"],
      ['src/core/a.ts', "const { connect } = await import('node:net');"],
      ['src/core/a.ts', "import { create } from '@bufbuild/protobuf';"],
      ['src/wire/a.ts', "import { Client } from '@grpc/grpc-js';"],
    ],
    keeps: [
      ['src/core/a.ts', "import { z } from 'zod';"],
      ['src/wire/a.ts', "import { create } from '@bufbuild/protobuf';"],
      ['src/core/a.ts', "import { isIP } from 'node:net';"],
      ['src/host/a.ts', "import { readFileSync } from 'node:fs';"],
    ],
  },
);

rule(
  'only the composition root ends the process',
  (file) =>
    file.folder === 'program' || file.path === 'src/sim/main.ts'
      ? []
      : codeMatches(file, /\bprocess\.(?:exit|abort|reallyExit)\b(?!\w)/g).map(
          (found) => `calls ${found}; throw a Fault instead`,
        ),
  {
    breaks: [
      ['src/core/a.ts', 'process.exit(1);'],
      ['src/core/a.ts', 'run().finally(process.exit);'],
      ['src/core/a.ts', 'process.abort();'],
    ],
    keeps: [['src/cli/a.ts', 'process.exitCode = 1;']],
  },
);

rule(
  'only Faults are thrown',
  (file) =>
    [...parsed(file).bare.matchAll(/(?:\bthrow\s+|\breject\(\s*)(?:new\s+)?([A-Z]\w*[a-z]\w*)/g)]
      .map((match) => match[1] as string)
      .filter((name) => name !== 'Fault')
      .map((name) => `throws ${name}; throw a Fault, named by what the caller should do`),
  {
    breaks: [
      ['src/core/a.ts', "throw new Error('b');"],
      ['src/core/a.ts', "throw TypeError('b');"],
      ['src/core/a.ts', "const b = Promise.reject(new Error('b'));"],
    ],
    keeps: [['src/core/a.ts', "throw new Fault('invalid', 'throw new Error');"]],
  },
);

const MOST_LINES = 400;

rule(
  'names say what a file is about, and no file is long',
  (file) => {
    const name = file.path.split('/').at(-1) as string;
    if (/^(utils?|helpers?|common|misc|manager|types|lib)\.tsx?$/.test(name))
      return ['says nothing; name it by what it does'];
    return file.lines > MOST_LINES ? [`has ${file.lines} lines; split it by what it does`] : [];
  },
  {
    breaks: [
      ['src/core/utils.ts', ''],
      ['src/core/a.ts', '\n'.repeat(MOST_LINES + 1)],
    ],
    keeps: [['src/core/a.ts', '\n'.repeat(MOST_LINES)]],
  },
  files,
);

test('files are small: the median is about 80 lines, and nine in ten have at most 200', () => {
  const lengths = program.map((file) => file.lines).toSorted((a, b) => a - b);

  expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(100);
  expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThanOrEqual(200);
});

// The classes of the library: users import them by the names that they have in other programs.
const PROMISED = /^(BaseComputer|AWS|Azure|GCP|Docker|Kubernetes|Platform)Provisioner$/;

rule(
  'nothing in code is called provisioner, manager, helper or util',
  (file) =>
    [...parsed(file).bare.matchAll(/\b\w*(Provisioner|[Mm]anager|[Hh]elper|[Uu]til)s?\b/g)]
      .filter(([found]) => !(file.folder === 'library' && PROMISED.test(found)))
      .map(([found]) => `says ${found}; see the vocabulary in ARCHITECTURE.md`),
  {
    breaks: [
      ['src/core/a.ts', 'class PoolManager {}'],
      ['src/core/a.ts', 'const helper = 1;'],
      ['src/core/a.ts', 'class AWSProvisioner {}'],
      ['src/library/a.ts', 'class PoolProvisioner {}'],
    ],
    keeps: [
      ['src/core/a.ts', "const said = 'provisioner';"],
      ['src/web/a.tsx', 'const said = <p>No NodeProvisioner.</p>;'],
      ['src/library/a.ts', 'export class AWSProvisioner {}'],
    ],
  },
);

const ONCE: Readonly<Record<string, string>> = {
  SECOND_MS: 'src/core/clock.ts',
  MINUTE_MS: 'src/core/clock.ts',
  HOUR_MS: 'src/core/clock.ts',
  DAY_MS: 'src/core/clock.ts',
  until: 'src/core/testing/until.ts',
  aPool: 'src/core/testing/pool.ts',
};

rule(
  'units of time, waiting in tests and the pool of tests are each made in one place',
  (file) =>
    [...parsed(file).bare.matchAll(/^(?:export )?(?:async )?(?:const|function) (\w+)/gm)]
      .map((match) => match[1] as string)
      .filter((name) => Object.hasOwn(ONCE, name) && ONCE[name] !== file.path)
      .map((name) => `has a ${name} of its own; import it from ${ONCE[name]}`),
  {
    breaks: [
      ['src/core/a.ts', 'const MINUTE_MS = 60_000;'],
      ['src/core/a.test.ts', 'export async function until(): Promise<void> {}'],
    ],
  },
  files,
);

rule(
  'tests set no limits on real time: those of vitest.config.ts are for what hangs',
  (file) =>
    [
      ...parsed(file).code.matchAll(/^\s*\}, ?[\d_]+\);$|\bwaitFor\(\(\)/gm),
      ...parsed(file).code.matchAll(/systemClock\.\w+\(\) - \w+\)\.toBeLessThan/g),
    ].map(([found]) => `has a limit of its own (${found.trim()}); wait for an event with until, or use a VirtualClock`),
  {
    breaks: [
      ['src/core/a.test.ts', "test('b', async () => {\n}, 20_000);"],
      ['src/core/a.test.ts', 'expect(systemClock.monotonic() - startedMs).toBeLessThan(2_000);'],
      ['src/core/a.test.ts', 'await vi.waitFor(() => expect(b).toBe(1));'],
    ],
    keeps: [['src/core/a.test.ts', 'await untilHolds(() => expect(b).toBe(1));']],
  },
  files.filter((file) => isTest(file.path)),
);

// The first looks again and again; the others sleep another while in every round, so that two things meet at another moment.
const SLEEPERS = new Set([
  'src/core/testing/until.ts',
  'src/broker/tls.system.test.ts',
  'src/providers/process/busy.system.test.ts',
  'src/providers/process/process.system.test.ts',
]);

rule(
  'tests do not sleep to see that nothing happens',
  (file) =>
    SLEEPERS.has(file.path)
      ? []
      : [...parsed(file).bare.matchAll(/\b(systemClock\.sleep|setTimeout)\b/g)].map(
          ([found]) => `uses ${found}; wait for an event with until, or use a VirtualClock`,
        ),
  {
    breaks: [
      ['src/core/a.test.ts', 'await systemClock.sleep(100);'],
      ['src/core/a.test.ts', 'await new Promise((resolve) => setTimeout(resolve, 50));'],
    ],
    keeps: [['src/core/a.test.ts', 'await clock.sleep(100); // setTimeout']],
  },
  files.filter((file) => isTest(file.path)),
);

rule(
  'tests hand their own output down to no child: vitest waits until all who hold it have ended',
  (file) =>
    [...parsed(file).code.matchAll(/\bstdio: [^\n]*'inherit'/g)].map(
      ([found]) =>
        `has ${found}; take 'pipe', and pass on what comes: child.stderr.pipe(process.stderr, { end: false })`,
    ),
  {
    breaks: [
      ['src/core/a.test.ts', "spawn('b', [], { stdio: 'inherit' });"],
      ['src/core/testing/a.ts', "spawn('b', [], { stdio: ['ignore', 'pipe', 'inherit'] });"],
    ],
    keeps: [['src/core/a.test.ts', "spawn('b', [], { stdio: 'pipe' });"]],
  },
  files.filter((file) => isTest(file.path)),
);
