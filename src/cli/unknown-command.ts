// What someone means by a command that Muster does not have.
import type { Command } from 'commander';
import { nearest } from '#core/nearest.ts';

/** Words of other schedulers and tools, and what does the same here. */
const BY_MEANING: Readonly<Record<string, string>> = {
  agents: 'worker',
  attach: 'session attach',
  cancel: 'session kill',
  create: 'pool apply',
  exec: 'shell',
  instances: 'worker',
  job: 'session',
  jobs: 'session',
  kill: 'session kill',
  list: 'ps',
  log: 'logs',
  ls: 'ps',
  machine: 'worker',
  machines: 'worker',
  node: 'worker',
  nodes: 'worker',
  pod: 'worker',
  pods: 'worker',
  queue: 'ps',
  rm: 'session kill',
  sbatch: 'run -d',
  scancel: 'session kill',
  sinfo: 'worker ls',
  squeue: 'ps',
  srun: 'run',
  ssh: 'shell',
  start: 'server',
  stop: 'session kill',
  submit: 'run -d',
  tail: 'logs -f',
  task: 'session',
  tasks: 'session',
  top: 'status',
  up: 'server',
  use: 'context use',
  wait: 'session wait',
};

/** The command that does the same by that name, if `known` has it; `within`: the noun that has them. */
function sameCommand(word: string, known: readonly string[], within?: string): string | undefined {
  const byMeaning = Object.hasOwn(BY_MEANING, word) ? BY_MEANING[word] : undefined;
  const here =
    within !== undefined && byMeaning?.startsWith(`${within} `) ? byMeaning.slice(within.length + 1) : byMeaning;
  const isKnown = here !== undefined && known.includes(here.split(' ')[0] as string);
  return isKnown ? here : undefined;
}

/** What does the same by another name, else a known command that is spelled alike, else what does the same as a word that is. */
export function meantCommand(written: string, known: readonly string[], within?: string): string | undefined {
  const same = sameCommand(written, known, within) ?? nearest(written, known);
  if (same !== undefined) return same;
  const word = nearest(written, Object.keys(BY_MEANING));
  return word === undefined ? undefined : sameCommand(word, known, within);
}

/** Refuses the word as Commander does, and suggests the command with that meaning. */
export function refuseUnknownCommand(command: Command, written: string): never {
  const known = command.commands.flatMap((child) => [child.name(), ...child.aliases()]);
  const meant = meantCommand(written, known, command.name());
  const hint = meant === undefined ? '' : `\n(Did you mean ${meant}?)`;
  return command.error(`error: unknown command '${written}'${hint}`, { code: 'commander.unknownCommand' });
}
