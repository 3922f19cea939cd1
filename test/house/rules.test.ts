import { expect, test } from 'vitest';
import { TABLES } from '#core/store.ts';
import { importsOf, isTest, packagesOf, type SourceFile, sourceFiles } from './tree.ts';

const files = sourceFiles();
const program = files.filter((file) => !isTest(file.path));

// Each folder may import itself, those named here, and what those may import.
const INWARD: Readonly<Record<string, readonly string[]>> = {
  core: [],
  gotemplate: [],
  config: ['core', 'gotemplate'],
  store: ['core'],
  kube: ['core'],
  clouds: ['config', 'store', 'kube'],
  access: ['config', 'store'],
  journal: ['config', 'store'],
  autoscaler: ['core'],
  pools: ['clouds', 'access', 'journal'],
  workers: ['autoscaler', 'clouds', 'access', 'journal'],
  sessions: ['clouds', 'access', 'journal'],
  providers: ['core', 'kube'],
  broker: ['pools', 'workers', 'sessions'],
  api: ['pools', 'workers', 'sessions', 'broker'],
  agent: ['config', 'broker'],
  cli: ['core'],
  edge: ['core', 'access'],
  installer: ['core'],
  conformance: ['core', 'kube'],
  program: ['api', 'broker', 'edge', 'installer', 'agent', 'cli', 'providers'],
  sim: ['program', 'conformance'],
};

function reach(folder: string, seen = new Set<string>()): Set<string> {
  if (seen.has(folder)) return seen;
  seen.add(folder);
  for (const next of INWARD[folder] ?? []) reach(next, seen);
  return seen;
}

const folderOf = (path: string): string => (path.split('/').length > 2 ? (path.split('/')[1] as string) : '');

/** What a rule finds, as `path: what to do instead`. */
function offences(check: (file: SourceFile) => string[] | string | undefined, among = program): string[] {
  return among.flatMap((file) => [check(file) ?? []].flat().map((found) => `${file.path}: ${found}`));
}

const stripped = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');

test('imports point inward', () => {
  const wrong = offences((file) => {
    if (file.folder === '') return [];
    const allowed = reach(file.folder);
    return importsOf(file)
      .filter((path) => path.startsWith('src/') && !allowed.has(folderOf(path)))
      .filter((path) => !(file.folder === 'cli' && path.startsWith('src/api/') && file.text.includes(`import type`)))
      .map((path) => `imports ${path}; have it handed in, or read the table through store.view`);
  });

  expect(wrong).toEqual([]);
});

test('a provider imports only core, kube and its own folder', () => {
  const wrong = offences((file) => {
    if (file.folder !== 'providers') return [];
    const own = file.path.split('/').slice(0, 3).join('/');
    return importsOf(file)
      .filter((path) => !path.startsWith(`${own}/`) && !/^src\/(core|kube)\//.test(path))
      .map((path) => `imports ${path}; a provider gets all else through its Context`);
  });

  expect(wrong).toEqual([]);
});

test('one folder writes each table', () => {
  const wrong = offences((file) =>
    [...stripped(file.text).matchAll(/\b(?:put|drop)\(\s*'(\w+)'/g)]
      .map((match) => match[1] as keyof typeof TABLES)
      .filter((name) => name in TABLES && TABLES[name].writer !== file.folder)
      .map((name) => `writes ${name}; ask ${TABLES[name].writer}/ to do it`),
  );

  expect(wrong).toEqual([]);
});

test('only core/clock.ts knows time', () => {
  const clock = /\b(Date\.now\(|new Date\(\)|performance\.now\(|setTimeout\(|setInterval\(|setImmediate\(|node:timers)/;
  const wrong = offences((file) => {
    if (/^src\/core\/(virtual-)?clock\.ts$/.test(file.path)) return undefined;
    const found = clock.exec(stripped(file.text));
    return found ? `uses ${found[0]}; take a Clock instead` : undefined;
  });

  expect(wrong).toEqual([]);
});

test('only config/ knows the environment', () => {
  const wrong = offences((file) =>
    file.folder !== 'config' && /process\.env\b/.test(stripped(file.text))
      ? 'reads process.env; add the variable to config/environment.ts and have it handed in'
      : undefined,
  );

  expect(wrong).toEqual([]);
});

// `isIP` and its kin look at text; they speak to nobody.
const isOnlyAboutAddresses = ({ text }: SourceFile, name: string): boolean =>
  name === 'node:net' && /import \{ (?:isIPv?[46]?(?:, )?)+ \} from 'node:net'/.test(text);

test('only the edges know the network', () => {
  const network = /^(node:(net|http|https|http2|tls|dgram|dns)|@grpc\/grpc-js|undici|fastify|ws|pg)$/;
  const edges = new Set(['providers', 'kube', 'store', 'broker', 'api', 'edge', 'agent', 'cli']);
  const wrong = offences((file) =>
    edges.has(file.folder)
      ? []
      : packagesOf(file)
          .filter((name) => network.test(name) && !isOnlyAboutAddresses(file, name))
          .map((name) => `imports ${name}; only ${[...edges].filter(Boolean).join(', ')} speak to the network`),
  );

  expect(wrong).toEqual([]);
});

test('only the composition root ends the process', () => {
  const wrong = offences((file) =>
    /process\.exit\(/.test(stripped(file.text)) && file.folder !== 'program' && file.path !== 'src/sim/main.ts'
      ? 'calls process.exit; throw a Fault instead'
      : undefined,
  );

  expect(wrong).toEqual([]);
});

test('only Faults are thrown', () => {
  const wrong = offences((file) =>
    [...stripped(file.text).matchAll(/throw new (\w+)/g)]
      .map((match) => match[1] as string)
      .filter((name) => name !== 'Fault')
      .map((name) => `throws ${name}; throw a Fault, named by what the caller should do`),
  );

  expect(wrong).toEqual([]);
});

test('names say what a file is about, and no file is long', () => {
  const wrong = offences((file) => {
    const name = file.path.split('/').at(-1) as string;
    if (/^(utils?|helpers?|common|misc|manager|types|lib)\.tsx?$/.test(name))
      return 'says nothing; name it by what it does';
    return file.lines > 400 ? `has ${file.lines} lines; split it by what it does` : undefined;
  }, files);

  expect(wrong).toEqual([]);
});

test('files are small: the median is about 80 lines, and nine in ten have at most 200', () => {
  const lengths = program.map((file) => file.lines).toSorted((a, b) => a - b);

  expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(100);
  expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThanOrEqual(200);
});

test('nothing in code is called provisioner, manager, helper or util', () => {
  const wrong = offences((file) => {
    const found = /\b\w*(Provisioner|Manager|Helper|Util)s?\b/.exec(
      stripped(file.text).replace(/'[^'\n]*'|`[^`]*`|"[^"\n]*"/g, ''),
    );
    return found ? `says ${found[0]}; see the vocabulary in ARCHITECTURE.md` : undefined;
  });

  expect(wrong).toEqual([]);
});
