import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { asFile, isTest, type SourceFile, sourceFiles } from './tree.ts';

const program = sourceFiles().filter((file) => !isTest(file.path));

// What a generated list finds by that name in every file of its kind.
const CONVENTIONAL = new Set(['noun', 'commands', 'simulation', 'main']);

/** Names that stand in two folders, and why they may. Make the list shorter, not longer. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  'two programs: the agent is a process of its own, and no file of the server imports both': [
    'AgentOptions',
    'Connection',
    'Environment',
    'Lease',
    'Piece',
    'Run',
    'RunOptions',
    'Stream',
    'Target',
    'Trust',
    'follow',
    'helloOf',
    'isRefusal',
    'startAgent',
  ],
  'the simulator stands in for the part of that name': [
    'AgentFile',
    'Broker',
    'Door',
    'Ground',
    'LoadOptions',
    'Place',
    'Server',
    'ServerOptions',
    'SimCloudOptions',
    'Wire',
  ],
  'a fake cloud has its own word for its own side of the wire': [
    'Handler',
    'Limits',
    'Listener',
    'Machine',
    'Machines',
    'Page',
    'Refusal',
    'Said',
    'Step',
    'listen',
    'pageOf',
  ],
  'thin clients of clouds: providers alone import `rest`': [
    'Patience',
    'Progress',
    'RestOptions',
    'Token',
    'Tokens',
    'openTokens',
  ],
  'the two gates: requests that come in, calls that go out': ['Gate', 'openGate'],
  'the same act on the things of its own folder': [
    'Asked',
    'Call',
    'Entry',
    'Following',
    'Listing',
    'faultOf',
    'isFrozen',
    'lookForLost',
    'shapeOf',
    'statusOf',
  ],
};

/** Names that a file declares and exports; what it only passes on has its home elsewhere. */
function exportsOf({ text }: SourceFile): readonly string[] {
  const declared =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;
  return [...new Set(Array.from(text.matchAll(declared), (match) => match[1] as string))];
}

/** Where a name is at home. The forms of the wire bear the names of their records; a provider is imported by its own folder alone. */
function homeOf({ path, folder }: SourceFile): string | undefined {
  return path.startsWith('src/api/wire/') || folder === 'providers' ? undefined : folder;
}

/** Names that several folders export. */
function namesTwice(files: readonly SourceFile[]): readonly string[] {
  const homes = new Map<string, Set<string>>();
  for (const file of files) {
    const home = homeOf(file);
    if (home === undefined) continue;
    for (const name of exportsOf(file)) homes.set(name, (homes.get(name) ?? new Set()).add(home));
  }
  const listed = new Set([...CONVENTIONAL, ...Object.values(SHARED).flat()]);
  return [...homes]
    .filter(([name, folders]) => folders.size > 1 && !listed.has(name))
    .map(([name, folders]) => `${name} is exported by ${[...folders].join(' and ')}: rename one of them`);
}

describe('an exported name stands for one thing', () => {
  test('holds in the tree', () => {
    expect(namesTwice(program)).toEqual([]);
  });

  test('is broken by the same name in two folders', () => {
    const files = [
      asFile('src/pools/a.ts', 'export interface Claim {}'),
      asFile('src/workers/b.ts', 'export type Claim = 1;'),
      asFile('src/api/wire/c.ts', 'export const Claims = 1;'),
      asFile('src/core/d.ts', 'export const Claims = 1;'),
    ];

    expect(namesTwice(files)).toEqual(['Claim is exported by pools and workers: rename one of them']);
  });
});

/** Types that the public file of a feature shows: its index, or the file that is named like its folder. */
function publicTypes({ path, folder, text }: SourceFile): readonly string[] {
  const publicFiles = [`src/${folder}/index.ts`, `src/${folder}/${folder}.ts`, 'src/autoscaler/plan.ts'];
  if (!publicFiles.includes(path)) return [];
  const declared = Array.from(text.matchAll(/^export (?:interface|type) (\w+)/gm), (match) => match[1] as string);
  const passedOn = Array.from(text.matchAll(/^export type \{([^}]*)\}/gm), (match) => (match[1] as string).split(','));
  return [...declared, ...passedOn.flat().map((name) => name.trim())].filter((name) => name && !name.endsWith('Deps'));
}

const FEATURES = new Set(['pools', 'autoscaler', 'workers', 'sessions']);
const isFeature = ({ folder }: SourceFile): boolean =>
  FEATURES.has(folder) || program.some(({ path }) => path === `src/${folder}/index.ts`);

test('the glossary of ARCHITECTURE.md has every type that a feature shows', () => {
  const glossary = readFileSync('ARCHITECTURE.md', 'utf8');
  const missing = program
    .filter(isFeature)
    .flatMap((file) => publicTypes(file).map((name) => `${name} of ${file.path}`))
    .filter((entry) => !glossary.includes(`\`${entry.split(' ')[0]}\``));

  expect(missing, 'add a row to "What features show each other"').toEqual([]);
});
