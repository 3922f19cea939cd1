import type { Command } from 'commander';
import type { Cli, Local } from './command.ts';

type Make = (cli: Cli, local: Local) => Command;

/** All commands in the order of the help. Each is loaded only when it is wanted: a server needs none but its own. */
const COMMANDS: Readonly<Record<string, () => Promise<Make>>> = {
  run: async () => (await import('./run.ts')).runCommand,
  shell: async () => (await import('./run.ts')).shellCommand,
  pool: async () => (await import('./pool.ts')).poolCommand,
  plan: async () => (await import('./plan.ts')).planCommand,
  session: async () => (await import('./session.ts')).sessionCommand,
  worker: async () => (await import('./worker.ts')).workerCommand,
  event: async () => (await import('./event.ts')).eventCommand,
  source: async () => (await import('./source.ts')).sourceCommand,
  freeze: async () => (await import('./freeze.ts')).freezeCommand,
  thaw: async () => (await import('./freeze.ts')).thawCommand,
  token: async () => (await import('./token.ts')).tokenCommand,
  login: async () => (await import('./server.ts')).loginCommand,
  server: async () => (await import('./server.ts')).serverCommand,
  agent: async () => (await import('./agent.ts')).agentCommand,
  config: async () => (await import('./config.ts')).configCommand,
  backup: async () => (await import('./backup.ts')).backupCommand,
  restore: async () => (await import('./server.ts')).restoreCommand,
  sim: async () => (await import('./sim.ts')).simCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
};

// It tells what all others take.
const KNOWS_ALL = 'completion';

/** The one that a command line begins with; all of them where it does not begin with a command. */
export async function commandsFor(words: readonly string[]): Promise<readonly Make[]> {
  const [first = ''] = words;
  const only = first !== KNOWS_ALL && Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  return Promise.all((only ? [only] : Object.values(COMMANDS)).map((load) => load()));
}
