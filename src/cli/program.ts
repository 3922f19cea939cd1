import { type Argument, Command, CommanderError, Option } from 'commander';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Cli, Local } from './command.ts';
import { commandsFor } from './commands.ts';
import { problemLines } from './problem-lines.ts';
import { refuseUnknownCommand } from './unknown-command.ts';

const serverOptions = (): Option[] => [
  new Option('--address <url>', 'address of the server (MUSTER_ADDRESS)'),
  new Option('--token <token>', 'API token (prefer MUSTER_TOKEN)'),
  new Option('--ca <file>', 'CA certificate of the server, if this machine does not trust it (MUSTER_CA)'),
];

export interface ProgramOptions {
  readonly version: string;
  /** What it is built for; without them it is whole. */
  readonly words?: readonly string[];
}

/** The command `muster`. */
export async function buildProgram(cli: Cli, local: Local, { version, words = [] }: ProgramOptions): Promise<Command> {
  const program = new Command('muster')
    .description('One control plane for elastic compute.')
    .version(version, '-V, --version')
    .enablePositionalOptions();
  for (const option of serverOptions()) program.addOption(option);
  for (const { make } of await commandsFor(words)) {
    const command = make(cli, local);
    program.addCommand(command);
    takeServerOptions(command);
  }
  configureHelp(program);
  return program;
}

/** `muster pool ls --address …` means the same as with the option in front. */
function takeServerOptions(command: Command): void {
  if (command.commands.length === 0) for (const option of serverOptions()) command.addOption(option.hideHelp());
  for (const child of command.commands) takeServerOptions(child);
}

/** In lists of commands, options count only where they are shown. */
function configureHelp(command: Command): void {
  command.configureHelp({
    subcommandTerm(child) {
      const hasOptions = child.options.some(({ hidden }) => !hidden);
      const names = [child.name(), ...child.aliases()].join('|');
      return [names, ...(hasOptions ? ['[options]'] : []), ...child.registeredArguments.map(termOf)].join(' ');
    },
  });
  for (const child of command.commands) configureHelp(child);
}

function termOf(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Options of the command to run are not ours. */
const hintFor = ({ registeredArguments }: Command): string =>
  registeredArguments.some((argument) => argument.name() === 'command' && argument.variadic)
    ? 'Write the command after --. '
    : '';

/** Commander would print and exit by itself; only the composition root may exit. */
function tame(command: Command, said: { text: string }, cli: Cli): void {
  const { terminal } = cli;
  const path = [command.name()];
  for (let above = command.parent; above; above = above.parent) path.unshift(above.name());
  command
    .exitOverride()
    .showHelpAfterError(`  ${hintFor(command)}See \`${path.join(' ')} --help\`.`)
    .configureOutput({
      writeOut: (text) => void terminal.output.write(text),
      writeErr: (text) => {
        said.text += text;
      },
      outputError: (text, write) => write(text.replace(/^error: /, 'muster: ')),
    });
  if (command.commands.length > 0) {
    command.on('command:*', ([written]: [string]) => refuseUnknownCommand(command, written));
  }
  for (const child of command.commands) tame(child, said, cli);
}

/** Commander prints the whole help for `help nosuch`; it must fail like `nosuch`. */
function askedOf(program: Command, words: readonly string[]): readonly string[] {
  const [first, name] = words;
  if (first !== 'help' || name === undefined || name.startsWith('-')) return words;
  const isKnown = program.commands.some((command) => [command.name(), ...command.aliases(), 'help'].includes(name));
  return isKnown ? words : [name];
}

/** Runs one command line; answers the exit code where it failed. */
export async function runProgram(program: Command, words: readonly string[], cli: Cli): Promise<number | undefined> {
  const said = { text: '' };
  tame(program, said, cli);
  try {
    await program.parseAsync(askedOf(program, words), { from: 'user' });
    return undefined;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return sayRefusal(thrown, said.text, cli);
    // After Ctrl-C no message is needed.
    if (!cli.signal.aborted) cli.terminal.errors.write(sayFault(Fault.from(thrown)));
    return FAULTS[Fault.from(thrown).kind].exit;
  }
}

/** Without a command the help is printed with exit code 0. */
function sayRefusal({ code, exitCode }: CommanderError, text: string, { terminal }: Cli): number {
  const isHelp = exitCode === 0 || code === 'commander.help';
  (isHelp ? terminal.output : terminal.errors).write(text);
  return isHelp ? 0 : FAULTS.invalid.exit;
}

/** What, where, and what to do. */
export function sayFault(fault: Fault): string {
  const { problems = [] } = fault;
  if (problems.length > 1) {
    const lines = problemLines(fault).map((line) => `\n  ${line}`);
    return `muster: The document has ${problems.length} problems:${lines.join('')}\n  ${fault.remedy}\n`;
  }
  const place = fault.at ? `\n  at ${fault.at}` : '';
  const stack = fault.kind === 'internal' && fault.cause instanceof Error ? `\n${fault.cause.stack}` : '';
  const remedy = fault.remedy === '' ? '' : `\n  ${fault.remedy.replaceAll('\n', '\n  ')}`;
  return `muster: ${fault.message}${place}${remedy}${stack}\n`;
}
