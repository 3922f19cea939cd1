// The verbs of kubectl, for hands that know them: `get NOUN [NAME]`, `describe NOUN NAME`.
import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { CliCommand } from './command.ts';
import { withExamples } from './example.ts';
import { meantCommand } from './unknown-command.ts';

const childOf = (noun: Command, name: string): Command | undefined =>
  noun.commands.find((child) => child.name() === name);

const callNames = (command: Command): readonly string[] => [command.name(), ...command.aliases()];

/** The noun of that name that has such a command, or a `Fault` that lists those that have. */
function nounOf(root: Command, written: string, needed: readonly string[]): Command {
  const nouns = root.commands.filter((noun) => needed.some((name) => childOf(noun, name)));
  const found = nouns.find((noun) => callNames(noun).includes(written));
  if (found) return found;
  const names = nouns.map((noun) => noun.name());
  const meant = meantCommand(written, nouns.flatMap(callNames));
  const near = nouns.find((noun) => callNames(noun).includes(meant ?? ''))?.name();
  const hint = near === undefined ? '' : `Did you mean ${near}? `;
  const remedy = `${hint}Use ${names.join(', ')}.`;
  throw new Fault('invalid', `${written} is nothing that can be shown here.`, { remedy });
}

/** As `NOUN show NAME` or `NOUN ls`, with all options of that command. */
async function runAs(noun: Command, name: 'ls' | 'show', rest: readonly string[]): Promise<void> {
  const child = childOf(noun, name);
  if (child) {
    await child.parseAsync([...rest], { from: 'user' });
    return;
  }
  const remedy = `Run \`muster ${noun.name()} ls\`.`;
  throw new Fault('invalid', `There is no view of one ${noun.name()} alone.`, { remedy });
}

function verb(name: string, summary: string): Command {
  return new Command(name)
    .description(summary)
    .argument('<noun>', 'for example pools, sessions or workers')
    .passThroughOptions()
    .allowUnknownOption();
}

function getCommand(): Command {
  const command = verb('get', 'list things of a noun, or show one: NOUN ls, NOUN show')
    .argument('[name...]', 'show this one; options are those of NOUN ls and NOUN show')
    .action((written: string, rest: string[], _options, command: Command) => {
      const noun = nounOf(command.parent as Command, written, ['ls', 'show']);
      const operands = childOf(noun, 'ls')?.parseOptions([...rest]).operands ?? rest;
      return runAs(noun, operands.length === 0 ? 'ls' : 'show', rest);
    });
  return withExamples(command, [
    ['muster get pools -o json', 'as `muster pool ls -o json`'],
    ['muster get session ID', 'as `muster session show ID`'],
  ]);
}

function describeCommand(): Command {
  const command = verb('describe', 'show one thing of a noun: NOUN show')
    .argument('<name...>', 'the one to show; options are those of NOUN show')
    .action((written: string, rest: string[], _options, command: Command) =>
      runAs(nounOf(command.parent as Command, written, ['show']), 'show', rest),
    );
  return withExamples(command, [['muster describe pool local', 'as `muster pool show local`']]);
}

export const commands: readonly CliCommand[] = [
  { name: 'get', order: 101, make: getCommand },
  { name: 'describe', order: 102, make: describeCommand },
];
