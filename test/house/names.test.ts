import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { TABLES } from '#core/store.ts';
import { asFile, isTest, type SourceFile, sourceFiles } from './tree.ts';

const program = sourceFiles().filter((file) => !isTest(file.path));

// What a generated list finds by that name in every file of its kind.
const CONVENTIONAL = new Set(['noun', 'commands', 'simulation', 'main', 'reasons']);

/** Names that stand in two folders, and why they may. Make the list shorter, not longer. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  'the simulator stands in for the part of that name': [
    'AgentOptions',
    'RunOptions',
    'Server',
    'ServerOptions',
    'Wire',
    'startAgent',
  ],
  'fakes name their own side of the wire as the cloud does': ['Machine', 'Machines', 'Page', 'Refusal'],
  'thin clients of clouds: providers alone import `rest`': ['RestOptions', 'Token', 'Tokens', 'openTokens'],
  'workers look for lost machines by what `machines` looks for': ['lookForLost'],
};

/** Names that a file declares and exports; what it only passes on has its home elsewhere. */
function exportsOf({ text }: SourceFile): readonly string[] {
  const declared =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;
  return [...new Set(Array.from(text.matchAll(declared), (match) => match[1] as string))];
}

/** Where a name is at home. The forms of the wire bear the names of their records; a provider and the dashboard are imported by their own folder alone. */
function homeOf({ path, folder }: SourceFile): string | undefined {
  return path.startsWith('src/api/wire/') || folder === 'providers' || folder === 'web' ? undefined : folder;
}

/** By name, the folders that export it. */
function homesOf(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const homes = new Map<string, Set<string>>();
  for (const file of files) {
    const home = homeOf(file);
    if (home === undefined) continue;
    for (const name of exportsOf(file)) homes.set(name, (homes.get(name) ?? new Set()).add(home));
  }
  return homes;
}

/** Names that several folders export. */
function namesTwice(files: readonly SourceFile[]): readonly string[] {
  const listed = new Set([...CONVENTIONAL, ...Object.values(SHARED).flat()]);
  return [...homesOf(files)]
    .filter(([name, folders]) => folders.size > 1 && !listed.has(name))
    .map(([name, folders]) => `${name} is exported by ${[...folders].join(' and ')}: rename one of them`);
}

describe('an exported name stands for one thing', () => {
  test('holds in the tree', () => {
    expect(namesTwice(program)).toEqual([]);
  });

  test('has no exception that is needed no more', () => {
    const homes = homesOf(program);
    const unneeded = Object.values(SHARED)
      .flat()
      .filter((name) => (homes.get(name)?.size ?? 0) < 2);

    expect(unneeded, 'take these out of SHARED').toEqual([]);
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

// The folders of these features, and what else they show to other folders.
const FEATURES = ['autoscaler', 'clouds', 'journal', 'machines', 'pools', 'sessions', 'workers'];
const ALSO_PUBLIC = ['src/autoscaler/plan.ts', 'src/clouds/gate.ts'];

/** What a feature shows is in its index, or in the file that is named like its folder. */
const isPublic = ({ path, folder }: SourceFile): boolean =>
  path === `src/${folder}/index.ts` ||
  (FEATURES.includes(folder) && path === `src/${folder}/${folder}.ts`) ||
  ALSO_PUBLIC.includes(path);

/** Types that a file declares or passes on; what a feature needs to be started with is for the composition alone. */
function typesOf({ text }: SourceFile): readonly string[] {
  const declared = Array.from(text.matchAll(/^export (?:interface|type) (\w+)/gm), (match) => match[1] as string);
  const passedOn = Array.from(text.matchAll(/^export (type )?\{([^}]*)\} from/gm)).flatMap(([, isType, names = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => isType !== undefined || name.startsWith('type '))
      .map((name) => name.replace(/^type /, '')),
  );
  return [...declared, ...passedOn].filter((name) => name !== '' && !name.endsWith('Deps'));
}

/** Whether a file declares that type right below a doc comment. */
const isExplained = ({ text }: SourceFile, name: string): boolean =>
  new RegExp(`\\*/\\nexport (?:interface|type) ${name}\\b`).test(text);

/** Types of public files without a doc comment; a type that is passed on has it in another file of its folder. */
function unexplained(files: readonly SourceFile[]): readonly string[] {
  return files.filter(isPublic).flatMap((file) => {
    const home = files.filter(({ folder }) => folder === file.folder);
    return typesOf(file)
      .filter((name) => !home.some((other) => isExplained(other, name)))
      .map((name) => `${name} of ${file.path}`);
  });
}

describe('a type that a feature shows has a doc comment where it is declared', () => {
  test('holds in the tree', () => {
    expect(unexplained(program), 'write one sentence above each of these').toEqual([]);
  });

  test('is broken by a type without one, declared or passed on', () => {
    const files = [
      asFile(
        'src/pools/pools.ts',
        "/** Pools. */\nexport interface Pools {}\nexport { open, type Limits } from './limits.ts';",
      ),
      asFile('src/pools/limits.ts', 'export interface Limits {}\nexport interface Hidden {}'),
    ];

    expect(unexplained(files)).toEqual(['Limits of src/pools/pools.ts']);
  });
});

const MOST_WORDS = 20;

/** The words that the glossary of ARCHITECTURE.md explains. */
function glossaryOf(architecture: string): readonly string[] {
  const [, chapter = ''] = /^## One word, one thing$(.*?)^## /ms.exec(architecture) ?? [];
  return Array.from(chapter.matchAll(/^\| ([^|]*) \|/gm)).flatMap(([, cell = '']) =>
    Array.from(cell.matchAll(/\*\*([^*]+)\*\*/g)).flatMap(([, words = '']) => words.split(', ')),
  );
}

test(`the glossary of ARCHITECTURE.md has at most ${MOST_WORDS} words, each once`, () => {
  const words = glossaryOf(readFileSync('ARCHITECTURE.md', 'utf8'));

  expect(words.slice(MOST_WORDS), 'explain a type in its doc comment').toEqual([]);
  expect(words).toEqual([...new Set(words)]);
  expect(glossaryOf('## One word, one thing\n| **Use, owner** | … |\n| **Pool** | … **not** |\n## Next\n')).toEqual([
    'Use',
    'owner',
    'Pool',
  ]);
});

interface FolderRow {
  readonly folder: string;
  readonly writes: readonly string[];
}

/** The rows of the chapter of folders. */
const folderRows = (architecture: string): readonly FolderRow[] =>
  Array.from(architecture.matchAll(/^\| `src\/(\w+)` \|.*\|([^|]*)\|$/gm), ([, folder = '', writes = '']) => ({
    folder,
    writes: writes.split(',').flatMap((name) => name.trim() || []),
  }));

/** Files that it names and that do not exist; a bare name is one of `machines`, of which one chapter tells. */
const deadNames = (architecture: string): readonly string[] =>
  Array.from(architecture.matchAll(/`((?:[\w-]+\/)*[\w-]+\.ts)`/g), ([, name = '']) => name).filter(
    (name) => !['', 'src/', 'src/machines/'].some((folder) => existsSync(`${folder}${name}`)),
  );

describe('ARCHITECTURE.md is true to the tree', () => {
  const architecture = readFileSync('ARCHITECTURE.md', 'utf8');

  // A noun is added without a change to any file: its row follows.
  const isNoun = (folder: string): boolean => existsSync(`src/${folder}/index.ts`);
  const rows = new Map(folderRows(architecture).map(({ folder, writes }) => [folder, writes]));

  test('every folder that is no noun of its own has its row, and no row is left of one that is gone', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const unlisted = folders.filter(({ name }) => !rows.has(name) && !isNoun(name));
    const gone = [...rows.keys()].filter((folder) => !existsSync(`src/${folder}`));

    expect([unlisted.map(({ name }) => name), gone]).toEqual([[], []]);
  });

  test('every table stands in the row of the folder that writes it', () => {
    const missing = Object.entries(TABLES).filter(([name, { writer }]) => {
      const writes = rows.get(writer);
      return writes === undefined ? !isNoun(writer) : !writes.includes(name);
    });

    expect(missing.map(([name]) => name)).toEqual([]);
  });

  test('every file that it names exists', () => {
    expect(deadNames(architecture)).toEqual([]);
    expect(deadNames('`clouds/lane.ts` `sweep.ts` `core/clock.ts`')).toEqual(['clouds/lane.ts']);
  });
});
