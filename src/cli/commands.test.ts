import { expect, it } from 'vitest';
import type { Cli, Local } from './command.ts';
import { commandsFor } from './commands.ts';
import { openScene } from './testing.ts';

const unused = { simulations: [{ id: 'aws', summary: 'EC2' }] } as unknown as Cli & Local;

/** The names of the commands that are loaded for that command line. */
async function loadedFor(...words: string[]): Promise<string[]> {
  return (await commandsFor(words)).map(({ make }) => make(unused, unused).name());
}

it('loads only the command that a command line begins with, by the name that it has itself', async () => {
  const all = await loadedFor();

  expect(all.length).toBeGreaterThan(15);
  const alone = all.filter((one) => !['completion', 'get', 'describe'].includes(one));
  for (const name of alone) expect(await loadedFor(name, 'ls')).toEqual([name]);
});

it('loads all where the first word is no command, or tells of all', async () => {
  const all = await loadedFor();

  for (const words of [
    ['--token', 'x', 'pool'],
    ['help'],
    ['poool'],
    ['toString'],
    ['completion'],
    ['get', 'pools'],
    ['describe', 'pool', 'a'],
  ])
    expect(await loadedFor(...words)).toEqual(all);
});

it('still says what was meant by a mistyped command', async () => {
  const { muster, errors } = openScene(() => ({}));

  expect(await muster('poool', 'ls')).toBe(2);
  expect(errors()).toContain('pool');
});
