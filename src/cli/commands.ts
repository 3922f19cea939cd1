import type { CliCommand } from './command.ts';
import { COMMANDS } from './commands.gen.ts';

// One tells what all others take, the others run them.
const NEEDS_ALL: ReadonlySet<string> = new Set(['completion', 'get', 'describe']);

async function load(name: string): Promise<readonly CliCommand[]> {
  const file = await COMMANDS[name]?.();
  return file?.commands.filter((command) => command.name === name) ?? [];
}

/** The one that a command line begins with; all of them where it does not begin with a command. */
export async function commandsFor(words: readonly string[]): Promise<readonly CliCommand[]> {
  const [first = ''] = words;
  const isKnown = (!NEEDS_ALL.has(first) || words.includes('--names')) && Object.hasOwn(COMMANDS, first);
  return (await Promise.all((isKnown ? [first] : Object.keys(COMMANDS)).map(load))).flat();
}
