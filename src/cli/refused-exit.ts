// Commands whose exit code 2 says what they found: a refused request must not be taken for that.
import { Fault } from '#core/fault.ts';
import type { Cli } from './command.ts';
import { remark } from './terminal.ts';

export const REFUSED_EXIT = 1;

/** Says why the request is invalid, and sets the exit code; any other fault goes on. */
export function sayInvalid(cli: Cli, thrown: unknown): undefined {
  const fault = Fault.from(thrown);
  if (fault.kind !== 'invalid') throw fault;
  remark(cli.terminal, `${fault.message}\n  ${fault.remedy}`);
  cli.exitWith(REFUSED_EXIT);
}
