export type Level = 'debug' | 'info' | 'warn' | 'error';

/** `message` is a field of every line already: a second one of that name would make the line ambiguous. */
export type LogFields = Readonly<Record<string, unknown>> & { readonly message?: never };

/** A constant message plus fields, so that logs can be counted and searched. */
export type Log = (level: Level, message: string, fields?: LogFields) => void;

export const silentLog: Log = () => {};

/** The same log with these fields on every line. */
export function withFields(log: Log, fields: LogFields): Log {
  return (level, message, more) => log(level, message, { ...fields, ...more });
}
