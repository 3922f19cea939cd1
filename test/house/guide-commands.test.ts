// No guide has a command that was never executed, unless the block says what it needs; docs/README.md explains the marks.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Fence, fencesIn, linksIn } from './markdown.ts';
import { ROOT } from './tree.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const guides = readdirSync(join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`);
const fences = ['README.md', ...guides].flatMap((path) => fencesIn(path, read(path)));

const EXECUTED = ['test', 'terminal', 'tty'];
const COMMAND = /^\s*(\$ )?(npx |sudo )?(muster|npm|kubectl|helm|docker|aws|az|gcloud|gsutil|terraform|curl) /m;

/** The words after `needs=` that docs/README.md explains. */
const explained = new Set(
  (read('docs/README.md').split('| `needs=` |')[1] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)].map((match) => match[1] as string)),
);

const isRepositoryFile = (mark: string): boolean => mark.includes('/') && !mark.includes('=');

/** What the named test must have: the first word of every command, and its second one. */
function lackingIn(test: string, { text }: Fence): string[] {
  const lines = text.replaceAll('\\\n', ' ').replace(/^npx /gm, '').split('\n');
  const commands = lines.filter((line) => /^[a-z]+ /.test(line)).map((line) => line.split(/[ :]+/).slice(0, 2));
  return commands.flat().filter((word) => !test.includes(word));
}

function refusalOf(fence: Fence): string | undefined {
  const { language, marks, text } = fence;
  if (['', 'bash', 'console', 'shell'].includes(language) && COMMAND.test(text))
    return 'write `sh` and how it is tested';
  if (language !== 'sh' || marks.some(isRepositoryFile)) return undefined;
  const [mark, ...others] = marks;
  if (mark === undefined || others.length > 0) return 'needs one mark: test, terminal, tty, by=FILE or needs=WORD';
  const [key, value = ''] = mark.split('=');
  if (EXECUTED.includes(mark)) return undefined;
  if (key === 'needs') return explained.has(value) ? undefined : `docs/README.md does not explain needs=${value}`;
  if (key !== 'by') return `${mark} is no mark`;
  if (!existsSync(join(ROOT, value))) return `${value} does not exist`;
  const lacking = lackingIn(read(value), fence);
  return lacking.length > 0 ? `${value} does not contain ${lacking.join(', ')}` : undefined;
}

describe('the commands of the guides', () => {
  test('every block is executed by a test, or names what it needs', () => {
    const refused = fences.flatMap((fence) => {
      const why = refusalOf(fence);
      return why ? [`${fence.path}:${fence.line}: ${why}`] : [];
    });

    expect(refused).toEqual([]);
  });

  test('most blocks without an account are executed', () => {
    const count = (wanted: (mark: string) => boolean): number =>
      fences.filter(({ language, marks }) => language === 'sh' && marks.some(wanted)).length;

    expect(count((mark) => EXECUTED.includes(mark))).toBeGreaterThan(60);
    expect([...explained].filter((word) => count((mark) => mark === `needs=${word}`) === 0)).toEqual([]);
  });

  test.each([
    ['sh', [], 'muster pool ls\n', 'needs one mark'],
    ['', [], 'muster pool ls\n', 'write `sh`'],
    ['sh', ['needs=luck'], 'muster pool ls\n', 'does not explain'],
    ['sh', ['by=test/none.ts'], 'muster pool ls\n', 'does not exist'],
    ['sh', ['by=test/house/rule.ts'], 'muster pool ls\n', 'does not contain'],
    ['sh', ['tested'], 'muster pool ls\n', 'no mark'],
  ])('a block with the language "%s" and the marks %j is refused', (language, marks, text, why) => {
    expect(refusalOf({ path: 'x.md', line: 1, language, marks, text })).toContain(why);
  });
});

test('docs/README.md leads to every guide and to every page of the reference', () => {
  const links = new Set(linksIn(read('docs/README.md')).map((link) => link.split('#')[0]));
  const pages = ['guides', 'reference'].flatMap((folder) =>
    readdirSync(join(ROOT, 'docs', folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  );

  expect(pages.filter((page) => !links.has(page))).toEqual([]);
});
