import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { CommanderError } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { readAgentConfig } from '#config/agent-file.ts';
import { readEnvironment } from '#config/environment.ts';
import type { KnownKinds } from '#config/kinds.ts';
import { readPool } from '#config/pool-document.ts';
import { describeProblem } from '#config/problem.ts';
import { readServerFile } from '#config/server-file.ts';
import { Fault } from '#core/fault.ts';
import type { Problem } from '#core/problem.ts';
import type { Provider } from '#core/provider.ts';
import { commandsBelow, describedProgram, helpOf, pathOf } from '../../scripts/cli-reference.ts';
import { allKinds } from '../../scripts/gen.ts';
import { providerIds } from '../../scripts/provider-list.ts';
import { schemaRows } from '../../scripts/schema-rows.ts';
import { commandLines, type Fence, fencesIn, linksIn } from './markdown.ts';
import { ROOT, sourceFiles } from './tree.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

function markdownBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(folder, path));
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...markdownBelow('docs'),
  ...markdownBelow('deploy'),
];
const written = [...documents.filter((path) => !path.includes('reference')), ...markdownBelow('src/providers')];
const fences: readonly Fence[] = written.flatMap((path) => fencesIn(path, read(path)));

describe('the command line in the documentation', () => {
  /** Everything that `muster` would say no to, without doing anything. */
  async function refusalOf(words: readonly string[]): Promise<string | undefined> {
    const program = await describedProgram();
    for (const command of [program, ...commandsBelow(program)]) {
      command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
      if (command.commands.length === 0 || command.name() === 'server') command.action(() => {});
    }
    try {
      await program.parseAsync(words, { from: 'user' });
      return undefined;
    } catch (thrown) {
      if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? undefined : thrown.message;
      return Fault.from(thrown).message;
    }
  }

  test('every example is one that the program takes', async () => {
    const lines = fences.flatMap(commandLines);
    const refused: string[] = [];
    for (const { words, place } of lines) {
      const why = await refusalOf(words);
      if (why) refused.push(`${place}: muster ${words.join(' ')}: ${why}`);
    }

    expect(refused).toEqual([]);
    expect(lines.length).toBeGreaterThan(50);
  });

  test('so is every example in the help', async () => {
    const program = await describedProgram();
    const examples = commandsBelow(program).flatMap((command) => {
      const text = helpOf(command).split('Examples:')[1] ?? '';
      return commandLines({ path: pathOf(command), line: 0, language: 'sh', text });
    });
    const refused = await Promise.all(examples.map(async ({ words }) => refusalOf(words)));

    expect(refused.filter(Boolean)).toEqual([]);
    expect(examples.length).toBeGreaterThan(15);
  });

  test('an example that is wrong is found', async () => {
    expect(await refusalOf(['pool', 'lss'])).toContain('unknown command');
    expect(await refusalOf(['pool', 'ls', '--wide'])).toContain('unknown option');
    expect(await refusalOf(['run', '--timeout', 'soon', '--', 'ls'])).toContain('not a duration');
    expect(await refusalOf(['run', '-e', 'A=b', '--', 'ls', '--wide'])).toBeUndefined();
  });
});

describe('the configuration in the documentation', () => {
  let kinds: KnownKinds;
  const environment = {
    ...readEnvironment({ EDGE_TOKEN: 'x', KUBECONFIG: 'x' }, () => ({ text: 'x', isWorldReadable: false })),
    unreadable: () => undefined,
  };

  beforeAll(async () => {
    kinds = await allKinds(ROOT);
  });

  /** Files of the repository are checked where they are used: manifests of Kubernetes, kinds of a plug-in. */
  const isConfiguration = ({ language, marks }: Fence): boolean =>
    language === 'yaml' && !marks.some((mark) => /^(deploy|examples)\//.test(mark));

  const hasKey = (text: string, keys: string): boolean => new RegExp(`^(${keys}):`, 'm').test(text);

  function checked(text: string): { readonly problems?: readonly Problem[] | undefined; warnings: readonly Problem[] } {
    if (
      hasKey(
        text,
        'agent_pools|provisioners|budgets|clusters|runtimes|computers|images|nodes|server|store|tls|access|agent|retention|log',
      )
    ) {
      return readServerFile(text, { kinds, environment });
    }
    if (hasKey(text, 'broker|daemon_config')) return readAgentConfig(text, environment);
    return readPool(text, { kinds: kinds.backends, trust: 'foreign' });
  }

  const problemsIn = (text: string): readonly Problem[] => checked(text).problems ?? [];
  const limitWarningsIn = (text: string): readonly Problem[] =>
    checked(text).warnings.filter(({ path }) => path.includes('auto_scaler'));

  /** Which of the two limits an example with a backend leaves out: without both, each session launches a machine. */
  function lackingIdleLimits(text: string): string[] {
    const timesIn = (pattern: string): number => [...text.matchAll(new RegExp(pattern, 'g'))].length;
    // `autoscaler_config` of one pool changes single keys of the shared one.
    const pools = timesIn('\\bauto_scaler"?\\s*[:=]') + Math.min(1, timesIn('\\bautoscaler_config"?\\s*[:=]'));
    return ['min_idle_agents', 'max_idle_agents'].filter((key) => timesIn(`\\b${key}"?\\s*[:=]`) < pools);
  }

  test('every example is good as it stands', () => {
    const examples = fences.filter(isConfiguration);
    const wrong = examples.flatMap(({ path, line, text }) =>
      problemsIn(text).map((problem) => `${path}:${line}: ${describeProblem(problem)}`),
    );

    expect(wrong).toEqual([]);
    expect(examples.length).toBeGreaterThan(15);
  });

  test('no example has limits that cost more than they seem to, or have no effect', () => {
    const examples = fences.filter(isConfiguration);
    const wrong = examples.flatMap(({ path, line, text }) =>
      limitWarningsIn(text).map((warning) => `${path}:${line}: ${describeProblem(warning)}`),
    );

    expect(wrong).toEqual([]);
    expect(limitWarningsIn('name: x\nauto_scaler: { max_agents: 1 }')).toHaveLength(1);
  });

  test('every example with a backend sets min_idle_agents and max_idle_agents', () => {
    const lacking = fences
      .filter(({ language }) => ['', 'yaml', 'json', 'hcl', 'sh'].includes(language))
      .flatMap(({ path, line, text }) => lackingIdleLimits(text).map((key) => `${path}:${line}: ${key} is not set`));

    expect(lacking).toEqual([]);
    expect(lackingIdleLimits('auto_scaler:\n  max_agents: 1\n  backend: { process: {} }')).toHaveLength(2);
  });

  test('Muster has the kinds of Velda that the guide to pools names, and no other', () => {
    const rows = read('docs/guides/pools-configuration.md').split("## Velda's file")[1]?.split('\n') ?? [];
    const named = (start: RegExp): string[] =>
      rows.flatMap((row) =>
        (start.test(row) ? [...(row.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)] : []).map(
          ([, kind]) => kind as string,
        ),
      );
    const known = new Set([...Object.keys(kinds.backends), ...Object.keys(kinds.sources)]);
    const refused = rows
      .filter((row) => row.includes('refused as unknown'))
      .flatMap((row) => row.match(/(?<=`)\w+(?=`)/)?.[0] ?? []);

    expect(named(/^\| (backends?|provisioners) /).filter((kind) => !known.has(kind))).toEqual(refused);
    expect(refused).toEqual(['primeintellect_instance']);
  });

  test('an example that is wrong is found', () => {
    expect(problemsIn('agent_pools:\n  - name: x\n    auto_scaler: { max_agnts: 1 }')).toHaveLength(1);
    expect(problemsIn('broker: { adress: x }')).toHaveLength(1);
    expect(problemsIn('nam: x')).not.toHaveLength(0);
  });
});

test('the guide to Terraform on AWS says how many machines its example keeps', () => {
  const guide = read('docs/guides/terraform-aws.md');
  const settingOf = (pool: string, key: string): string =>
    new RegExp(`${pool} = \\{.*\\b${key} = (\\d+)`).exec(guide)?.[1] ?? 'nothing';
  const decay = /idle_decay += optional\(string, "(\d+)s"\)/.exec(read('deploy/terraform/aws/variables.tf'))?.[1];

  expect(guide).toContain(
    `\`cpu-pool\` of the example keeps ${settingOf('cpu-pool', 'min_idle_agents')} machines ready`,
  );
  expect(settingOf('gpu-pool', 'min_idle_agents')).toBe('0');
  expect(guide).toContain(`up to ${settingOf('gpu-pool', 'max_idle_agents')} machines stay idle after their sessions`);
  expect(guide).toContain(`every ${Number(decay) / 60} minutes Muster removes one`);
});

test('every example that names a file is the text of that file', () => {
  const named = fences.flatMap((fence) => {
    const file = fence.marks.find((mark) => mark.includes('/') && !mark.includes('='));
    return file === undefined ? [] : [{ ...fence, file }];
  });
  const wrong = named
    .filter(({ file, text }) => !existsSync(join(ROOT, file)) || read(file) !== text)
    .map(({ path, line, file }) => `${path}:${line}: is not the text of ${file}; copy it from there`);

  expect(wrong).toEqual([]);
  expect(named.length).toBeGreaterThan(5);
});

test('the guide to pools explains every key of a pool', () => {
  const section = read('docs/reference/configuration.md').split('\n## Pool documents\n')[1]?.split('\n#')[0] ?? '';
  const keys = [...section.matchAll(/^\| `([\w.]+)` \| (?!map)/gm)].map((match) => match[1] as string);

  expect(keys.filter((key) => !read('docs/guides/pools-configuration.md').includes(`\`${key}\``))).toEqual([]);
  expect(keys.length).toBeGreaterThan(5);
});

test.each(providerIds(join(ROOT, 'src/providers')))(
  'the page of the provider %s explains every key of its kinds',
  async (id) => {
    const { default: provider } = (await import(join(ROOT, 'src/providers', id, 'index.ts'))) as { default: Provider };
    const page = read(`src/providers/${id}/README.md`);
    const kinds = Object.entries({ ...provider.backends, ...provider.sources, ...provider.clusters });
    const lacking = kinds.flatMap(([name, { config }]) =>
      schemaRows(config)
        .filter(({ key }) => !/[.[]/.test(key) && !new RegExp(`\`${key}\`|\\b${key}:`).test(page))
        .map(({ key }) => `add a row for ${key} of ${name}`),
    );

    expect(lacking).toEqual([]);
    for (const [name] of kinds) expect(page).toContain(name);
  },
);

test('every link in the documentation leads somewhere', () => {
  const anchorsOf = (path: string): Set<string> =>
    new Set(
      [...read(path).matchAll(/^#+ (.+)$/gm)].map((match) =>
        (match[1] as string)
          .toLowerCase()
          .replace(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
      ),
    );
  const wrong = [...documents, ...markdownBelow('src/providers')].flatMap((path) =>
    linksIn(read(path))
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? path : relative(ROOT, join(ROOT, dirname(path), file));
        if (!existsSync(join(ROOT, target))) return true;
        return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
      })
      .map((link) => `${path}: ${link}`),
  );

  expect(wrong).toEqual([]);
});

test('ARCHITECTURE.md names every folder of src, and no other', () => {
  const folders = new Set(sourceFiles().map((file) => file.folder));
  folders.delete('');
  const named = [...read('ARCHITECTURE.md').matchAll(/^\| `src\/([\w-]+)`/gm)].map((match) => match[1] as string);

  expect(named.toSorted()).toEqual([...folders].toSorted());
});

test('every file that README.md and ARCHITECTURE.md name is there', () => {
  const gone = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap((path) =>
    [...read(path).matchAll(/`((?:src|docs|scripts|test|tools|proto|bench|deploy|examples)\/[\w./-]*)`/g)]
      .map((match) => match[1] as string)
      .filter((named) => !existsSync(join(ROOT, named)))
      .map((named) => `${path}: ${named}`),
  );

  expect(gone).toEqual([]);
});

test('guides and what is in deploy call the installed command; only the README begins in a clone', () => {
  const inClone = [...written.filter((path) => path !== 'README.md'), ...filesBelow('deploy')]
    .filter((path) => path !== 'CHANGELOG.md')
    .flatMap((path) =>
      read(path)
        .split('\n')
        .map((line, index) => ({ line, place: `${path}:${index + 1}` })),
    )
    .filter(({ line }) => /(^|[^`])\bnpx muster\b|tools\/muster\.mjs|src\/main\.ts/.test(line))
    .map(({ place }) => place);

  expect(inClone).toEqual([]);
});

test('every guide is reached from the first one, and every guide shows something to run', () => {
  const guides = readdirSync(join(ROOT, 'docs/guides')).filter((name) => name !== 'getting-started.md');
  const links = new Set(linksIn(read('docs/guides/getting-started.md')));
  const shown = new Set(fences.filter((fence) => commandLines(fence).length > 0).map(({ path }) => path));

  expect(guides.filter((name) => !links.has(name))).toEqual([]);
  expect(guides.filter((name) => !shown.has(`docs/guides/${name}`))).toEqual([]);
});

test('the guide on access says what an operator of a `process` pool can read, and what to do about it', () => {
  const said = read('docs/guides/access.md');

  expect(said).toContain('An operator can therefore read every file that the server can read');
  expect(said).toContain('(`user:` of the backend `process`; the server must run as root)');
});
