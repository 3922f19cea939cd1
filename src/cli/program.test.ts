import { describe, expect, it } from 'vitest';
import { FAULTS } from '#core/fault.ts';
import { broken, ended, openScene, refusal } from './testing.ts';

const nobody = () => broken('ECONNREFUSED');

describe('the command line', () => {
  it('prints no empty line for a fault without a remedy', async () => {
    const detail = 'Pool a is not frozen.';
    const { muster, errors } = openScene(() => refusal(404, { kind: 'missing', detail, remedy: '' }));

    await muster('thaw', '-p', 'a');

    expect(errors()).toBe('muster: Pool a is not frozen.\n');
  });

  it.each(Object.entries(FAULTS))('ends with the exit code of the fault %s', async (kind, { http, exit }) => {
    const { muster, errors } = openScene(() => refusal(http, { kind, detail: 'It went wrong.', remedy: 'Do this.' }));

    expect(await muster('pool', 'ls')).toBe(exit);
    expect(errors()).toBe('muster: It went wrong.\n  Do this.\n');
  });

  it('says each problem of a refused document in a line of its own', async () => {
    const problems = [
      { path: 'name', line: 1, message: 'Must not be empty.' },
      { path: '', message: 'Is too long.' },
    ];
    const body = {
      kind: 'invalid',
      detail: 'line 1: name: Must not be empty; Is too long.',
      remedy: 'Do this.',
      problems,
    };
    const { muster, errors } = openScene(() => refusal(422, body));

    expect(await muster('pool', 'ls')).toBe(FAULTS.invalid.exit);
    expect(errors()).toBe(
      'muster: The document has 2 problems:\n  line 1: name: Must not be empty.\n  Is too long.\n  Do this.\n',
    );
  });

  it('says that no server is there, and what to do', async () => {
    const { muster, errors } = openScene(nobody);

    expect(await muster('session', 'ls', '--address', 'http://elsewhere')).toBe(FAULTS.unavailable.exit);
    expect(errors()).toContain('No Muster server answers at http://elsewhere');
    expect(errors()).toContain('npm start');
  });

  it.each([[[]], [['pool']], [['help']], [['help', 'pools']], [['run', '--help']]])(
    'answers %j with help, which is no failure',
    async (words) => {
      const { muster, output, errors } = openScene(nobody);

      expect(await muster(...words)).toBe(0);
      expect(output()).toContain('Usage: muster');
      expect(errors()).toBe('');
    },
  );

  it.each([
    [['pol', 'ls'], 'Did you mean pool?'],
    [['pool', 'shwo', 'x'], 'Did you mean show?'],
    [['server', 'stauts'], "unknown command 'stauts'\n(Did you mean status?)\n  See `muster server --help`."],
    [['server', 'elephant'], "unknown command 'elephant'\n  See `muster server --help`."],
    [['pool', 'ls', '--wach'], 'Did you mean --watch?'],
    [['pool', 'show'], "missing required argument 'name'"],
    [['pool', 'ls', '-o', 'xml'], 'Allowed choices are table, wide, json, yaml.'],
    [['token', 'create', '--role', 'king'], 'Allowed choices are viewer, operator, admin.'],
    [['token', 'create'], 'Give either --role or --join.'],
    [['run'], 'See `muster run --help`.'],
    [['run', '--timeout', 'soon', '--', 'ls'], '--timeout: "soon" is not a duration.'],
    [['run', '--grace', '5x', '--', 'ls'], '--grace: "5x" is not a duration.'],
    [['run', '--count', '0', '--', 'ls'], '--count 0 is out of range.'],
    [['run', '--count', '-3', '--', 'ls'], '--count -3 is out of range.'],
    [['run', '--count', '1.5', '--', 'ls'], '--count 1.5 is not a whole number.'],
    [['sim', 'cloud', 'aws', '--port', '99999'], '--port 99999 is out of range.'],
    [['run', '--timeout', '-5s', '--', 'ls'], '--timeout -5s is out of range.'],
    [['run', '--timeout', '0', '--', 'ls'], '--timeout 0 is out of range.'],
    [['run', '--grace', '-1s', '--', 'ls'], '--grace -1s is out of range.'],
    [['run', '-p', '', '--', 'ls'], '--pool: the name is empty.'],
    [['session', 'show', ''], '<id>: the name is empty.'],
    [['session', 'logs', ' '], '<id>: the name is empty.'],
    [['source', 'sync', ''], '<name>: the name is empty.'],
    [['help', 'pol'], "unknown command 'pol'\n(Did you mean pool?)"],
    [['run', '--env', 'NAME', '--', 'ls'], '--env: the variable NAME is not set here.'],
    [['event', 'ls', '-n', 'x'], '--limit x is not a whole number.'],
    [['run', '-i', '--count', '2', '--', 'ls'], 'Leave out --count and --detach.'],
  ])('refuses %j before anything is sent', async (words, said) => {
    const { muster, errors, asked } = openScene(nobody);

    expect(await muster(...words)).toBe(FAULTS.invalid.exit);
    expect(errors()).toContain(said);
    expect(errors()).toMatch(/^muster: /);
    expect(asked).toEqual([]);
  });

  it('takes the address and the token before the command and after it', async () => {
    const { muster, asked } = openScene(() => ({ items: [] }));

    await muster('--token', 'one', 'pool', 'ls');
    await muster('pool', 'ls', '--token', 'two');

    expect(asked.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer one', 'Bearer two']);
  });

  it('lets a session end at once after its polite signal', async () => {
    const { muster, asked } = openScene(() => ({ items: [ended()] }));

    await muster('run', '-d', '--grace', '0', '--', 'ls');

    expect(asked[0]?.body).toMatchObject([{ grace: '0' }]);
  });

  it('says nothing more once it was interrupted', async () => {
    const scene = openScene(() => {
      scene.interrupt();
      return broken('ECONNRESET');
    });

    await scene.muster('pool', 'ls');

    expect(scene.errors()).toBe('');
  });
});
