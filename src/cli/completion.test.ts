import { expect, test } from 'vitest';
import { aSession, broken, openScene } from './testing.ts';

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
    expect(script).toContain('ls show why plan pause resume shadow apply export delete --help');
    expect(script).toContain('viewer operator admin');
    expect(script).not.toMatch(/--watch.*--address/);
  },
);

test('an unsupported shell is refused', async () => {
  const { muster, errors } = openScene(() => ({}));

  expect(await muster('completion', 'tcsh')).toBe(10);
  expect(errors()).toContain('Use bash, zsh, fish.');
});

test('names are those of the server, and none that a shell would run', async () => {
  const answers: Record<string, object[]> = {
    '/pools': [{ name: 'gpu' }, { name: '$(reboot)' }, { name: 'a b' }, { name: '`x`' }],
    '/sessions': [aSession({ id: '0abc', name: 'sweep', index: 3, count: 4 }), aSession({ id: '0abd' })],
    '/workers': [{ name: 'm-1' }],
  };
  const names = async (kind: string) => {
    const { muster, output } = openScene(({ path }) => ({ items: answers[path] }));
    expect(await muster('completion', '--names', kind)).toBe(0);
    return output().trim().split('\n');
  };

  expect(await names('pool')).toEqual(['gpu']);
  expect(await names('session')).toEqual(['sweep/3', '0abc', '0abd', '@last']);
  expect(await names('worker')).toEqual(['m-1']);
  expect(await names('context')).toEqual(['local']);
});

test('names of a server that does not answer are none, and the shell does not wait', async () => {
  const { muster, output, errors, clock } = openScene(() => new Promise(() => {}));

  const asking = muster('completion', '--names', 'pool');
  await clock.advance(2_000);

  expect([await asking, output(), errors()]).toEqual([0, '', '']);
  expect(await openScene(() => broken('ECONNREFUSED')).muster('completion', '--names', 'pool')).toBe(0);
});
