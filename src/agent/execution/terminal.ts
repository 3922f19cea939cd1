// A pseudo-terminal without a native add-on: `script` allocates it, or Python if `script` is missing.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Fault } from '#core/fault.ts';
import type { SessionSpec } from '#core/session.ts';
import { quoted } from '#core/shell-text.ts';
import { SELF_OF_SHELL } from '#host/processes.ts';
import { DEFAULT_PATH, type FindProgram } from '#host/programs.ts';
import type { SessionEnvironment } from './environment.ts';
import type { Folder } from './folder.ts';

type Terminal = NonNullable<SessionSpec['terminal']>;

export interface TerminalRequest {
  readonly command: readonly string[];
  readonly env: SessionEnvironment;
  readonly terminal: Terminal;
}

const isLinux = process.platform === 'linux';

const PYTHON = `
import os, pty, sys
status = pty.spawn(sys.argv[1:])
code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
sys.exit(code)
`;

// `script` asks SHELL for the shell to start, so the session's own is put back within.
function innerScript(folder: Folder, { command, env, terminal }: TerminalRequest): string {
  const shell = env.SHELL;
  return [
    SELF_OF_SHELL,
    `echo "$$ $(command -p tty) | $muster_self" >${quoted(`${folder.path}/terminal`)}`,
    `command -p stty sane cols ${size(terminal.columns, 80)} rows ${size(terminal.rows, 24)}`,
    shell === undefined ? 'unset SHELL' : `SHELL=${quoted(shell)}`,
    `exec ${command.map(quoted).join(' ')}`,
    '',
  ].join('\n');
}

function size(count: number, otherwise: number): number {
  return Number.isInteger(count) && count > 0 && count < 10_000 ? count : otherwise;
}

/** The command that runs the session's own within a new terminal; stdin and stdout are then the terminal's. */
export function terminalCommand(folder: Folder, request: TerminalRequest, find: FindProgram): readonly string[] {
  const script = find('script', DEFAULT_PATH);
  const python = find('python3', `${DEFAULT_PATH}:${request.env.PATH}`);
  if (!script && !python)
    throw new Fault('unsupported', 'This worker has no program that can allocate a terminal.', {
      remedy: 'Install `script` (package util-linux or bsdutils) or python3 on it, or run without a terminal.',
    });
  writeFileSync(folder.innerPath, innerScript(folder, request), { mode: 0o600 });
  if (!script) return [python as string, '-c', PYTHON, '/bin/sh', folder.innerPath];
  if (!isLinux) return [script, '-q', '/dev/null', '/bin/sh', folder.innerPath];
  return [script, '-qefc', `exec /bin/sh ${quoted(folder.innerPath)}`, '/dev/null'];
}

/** Sets the size of the terminal; the kernel then sends SIGWINCH. */
export function resizeTerminal(device: string, { columns, rows }: Pick<Terminal, 'columns' | 'rows'>): void {
  const words = [isLinux ? '-F' : '-f', device, 'cols', `${size(columns, 80)}`, 'rows', `${size(rows, 24)}`];
  execFile('stty', words, () => {});
}
