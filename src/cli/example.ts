import type { Command } from 'commander';

/** Examples below the help of a command: what to type, and what it does. */
export function withExamples(command: Command, examples: readonly (readonly [string, string])[]): Command {
  const widest = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, what]) => `  ${line.padEnd(widest)}  # ${what}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
