import { expect, test } from 'vitest';
import { openScene } from './testing.ts';

const scriptFor = async (shell: string): Promise<string> => {
  const { muster, output } = openScene(() => ({}));
  expect(await muster('completion', shell)).toBe(0);
  return output();
};

test.each(['bash', 'zsh', 'fish'])(
  'the script for %s knows commands, aliases, options and their words',
  async (shell) => {
    const script = await scriptFor(shell);

    for (const path of ["'muster'", "'muster pool ls'", "'muster pools list'", "'muster session logs'"]) {
      expect(script).toContain(path);
    }
    expect(script).toContain('ls show why plan pause resume apply export delete --help');
    expect(script).toContain('viewer operator admin');
    expect(script).not.toMatch(/--watch.*--address/);
  },
);

test('an unsupported shell is refused', async () => {
  const { muster, errors } = openScene(() => ({}));

  expect(await muster('completion', 'tcsh')).toBe(10);
  expect(errors()).toContain('Use bash, zsh, fish.');
});
