import { styleText } from 'node:util';
import pino from 'pino';
import type { Clock } from '#core/clock.ts';
import type { Level, Log } from '#core/log.ts';
import type { Redactor } from '#journal/redact.ts';

export interface LoggingOptions {
  readonly level: Level;
  readonly format: 'auto' | 'text' | 'json';
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly clock: Clock;
  readonly redactor: Redactor;
}

const ORDER: readonly Level[] = ['debug', 'info', 'warn', 'error'];
const COLOURS = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' } as const;

function plain(value: unknown): string {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value;
  return JSON.stringify(value) ?? String(value);
}

function textLog({ output, clock }: LoggingOptions): Log {
  return (level, message, fields = {}) => {
    const time = new Date(clock.now()).toISOString();
    const said = Object.entries(fields)
      .filter(([name, value]) => value !== undefined && name !== 'stack')
      .map(([name, value]) => `${styleText('dim', `${name}=`)}${plain(value)}`);
    const stack = typeof fields.stack === 'string' ? `\n${fields.stack}` : '';
    output.write(
      `${styleText('dim', time)} ${styleText(COLOURS[level], level.padEnd(5))} ${[message, ...said].join(' ')}${stack}\n`,
    );
  };
}

function jsonLog({ output, clock }: LoggingOptions): Log {
  const logger = pino(
    {
      level: 'debug',
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
    },
    output,
  );
  return (level, message, fields) => logger[level](fields ?? {}, message);
}

/** A log for people on a terminal, and one object a line for everything else; secrets never reach it. */
export function openLog(options: LoggingOptions): Log {
  const isText = options.format === 'text' || (options.format === 'auto' && options.output.isTTY === true);
  const write = isText ? textLog(options) : jsonLog(options);
  const least = ORDER.indexOf(options.level);
  return (level, message, fields) => {
    if (ORDER.indexOf(level) < least) return;
    write(level, message, fields && options.redactor.fields(fields));
  };
}
