export type Level = 'debug' | 'info' | 'warn' | 'error';

/** A constant message plus fields, so that logs can be counted and searched. */
export type Log = (level: Level, message: string, fields?: Readonly<Record<string, unknown>>) => void;

export const silentLog: Log = () => {};

/** The same log with these fields on every line. */
export function withFields(log: Log, fields: Readonly<Record<string, unknown>>): Log {
  return (level, message, more) => log(level, message, { ...fields, ...more });
}
