import type { Cli } from './command.ts';
import { patiently } from './patience.ts';
import { isInteractive, sizeOf, type Terminal } from './terminal.ts';

const EVERY_MS = 500;
const HOME = '\u001b[H';
const CLEAR_SCREEN = '\u001b[2J';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** As much of a picture as the screen holds: a line that wraps or scrolls would spoil the next one. */
function fitScreen(terminal: Terminal, picture: string): string {
  const { columns, rows } = sizeOf(terminal);
  const lines = picture.split('\n');
  const shown = lines.length < rows ? lines : [...lines.slice(0, rows - 2), `… and ${lines.length - rows + 2} more`];
  return shown.map((line) => cutTo(line, columns)).join(`${CLEAR_LINE}\n`);
}

/** Cuts what people see; the codes that colour it take no room. */
export function cutTo(line: string, columns: number): string {
  let room = columns;
  let cut = '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters.
  for (const part of line.match(/\u001b\[[0-9;]*m|[^\u001b]/gu) ?? []) {
    if (part.startsWith('\u001b')) cut += part;
    else if (room > 0) {
      cut += part;
      room -= 1;
    }
  }
  return cut;
}

/** Shows the newest picture until Ctrl-C: in place on a terminal, one below the other elsewhere. */
export async function watchPicture(cli: Cli, draw: () => Promise<string>): Promise<void> {
  const { terminal, signal } = cli;
  const { output, clock } = terminal;
  const isScreen = isInteractive(output);
  let last: string | undefined;
  while (!signal.aborted) {
    const picture = last === undefined ? await draw() : await patiently(cli, draw);
    if (picture !== last) {
      const start = last === undefined ? HOME + CLEAR_SCREEN : HOME;
      output.write(isScreen ? `${start}${fitScreen(terminal, picture)}${CLEAR_LINE}\n${CLEAR_BELOW}` : `${picture}\n`);
      last = picture;
    }
    await clock.sleep(EVERY_MS, signal);
  }
}
