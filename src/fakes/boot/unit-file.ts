import { refusal } from '../refusal.ts';

/** As much of a systemd unit as a machine here honours. */
export interface UnitFile {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Runs after each exit, with `EXIT_STATUS` in its environment. */
  readonly stopPost: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string | undefined;
  readonly restarts: 'no' | 'on-failure' | 'always';
  readonly restartMs: number;
}

/** Program and arguments of a command line, without the signs that change how it is run. */
const commandIn = (line = ''): string[] =>
  words(line.replace(/^[-@:+!]+/, '')).map((word) => word.replaceAll('$$', () => '$'));

/** Splits as systemd does: blanks part words, quotes keep them together. */
function words(line: string): string[] {
  return [...line.matchAll(/(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|[^\s"']+)+/g)].map((match) =>
    match[0].replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
      double === undefined ? (single ?? '') : double.replace(/\\(.)/g, '$1'),
    ),
  );
}

function secondsIn(text: string): number {
  const [, number = '0', unit = 's'] = /^(\d+(?:\.\d+)?)\s*(ms|s|min)?$/.exec(text) ?? [];
  return Number(number) * ({ ms: 0.001, s: 1, min: 60 }[unit] ?? 1);
}

export function parseUnit(text: string): UnitFile {
  const section = /^\[Service\]\s*$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(text)?.[1] ?? '';
  const values = (name: string): string[] =>
    [...section.replace(/\\\n/g, ' ').matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((match) => match[1] as string);
  const command = commandIn(values('ExecStart').at(-1));
  if (command.length === 0) throw refusal('BadUnit', 'The unit has no ExecStart.');
  const pairs = values('Environment')
    .flatMap(words)
    .map((pair) => pair.split(/=(.*)/s));
  const restart = values('Restart').at(-1) ?? 'no';
  return {
    command,
    stopPost: commandIn(values('ExecStopPost').at(-1)),
    environment: Object.fromEntries(pairs.map(([name, value = '']) => [name, value])),
    folder: values('WorkingDirectory').at(-1),
    restarts: restart === 'always' || restart === 'on-failure' ? restart : 'no',
    restartMs: secondsIn(values('RestartSec').at(-1) ?? '100ms') * 1_000,
  };
}
