// What the form for a new session holds, and the request that it makes.
import type { ComputerSessionIn, Session, SessionIn } from '../../api/wire/session.ts';
import { commandText } from '../parts/session-rows.tsx';
import { readCommand } from './command-words.ts';

const SHELL = ['/bin/sh', '-c'] as const;

/** Each field as it was written. */
export interface Draft {
  readonly pool: string;
  /** It runs on that computer, in place of a pool. */
  readonly computer: string;
  readonly command: string;
  readonly isShell: boolean;
  readonly hasTerminal: boolean;
  readonly name: string;
  readonly cwd: string;
  /** `NAME=value`, one a line. */
  readonly env: string;
  readonly labels: string;
  readonly priority: string;
  readonly retries: string;
  readonly timeout: string;
  readonly grace: string;
}

export const NO_DRAFT: Draft = {
  ...{ pool: '', computer: '', command: '', isShell: false, hasTerminal: false, name: '', cwd: '' },
  ...{ env: '', labels: '', priority: '', retries: '', timeout: '', grace: '' },
};

const unless = (value: number, usual: number): string => (value === usual ? '' : String(value));

/** The form filled in with what a session was. Values of variables and files are not known here. */
export function draftOf(session: Session): Draft {
  const { pool, computer, command, terminal, cwd, labels, priority, retries, timeout, grace } = session;
  const isShell = command.length === 3 && SHELL.every((word, at) => command[at] === word);
  return {
    ...NO_DRAFT,
    pool: pool ?? '',
    computer: computer ?? '',
    command: isShell ? (command[2] ?? '') : commandText(command),
    isShell,
    hasTerminal: terminal,
    cwd: session.files ? '' : (cwd ?? ''),
    labels: Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join('\n'),
    priority: unless(priority, 0),
    retries: unless(retries, 0),
    timeout: timeout ?? '',
    grace: grace === '10s' ? '' : grace,
  };
}

/** What that session had and its draft lacks. */
export function leftOut({ env_names: names, files }: Session): readonly string[] {
  return [
    ...(names.length > 0 ? [`Its variables, whose values are never shown: ${names.join(', ')}.`] : []),
    ...(files ? ['Its files: a session from here starts in the usual folder of its worker.'] : []),
  ];
}

export type Faults = Partial<Readonly<Record<keyof Draft, string>>>;

export type ReadDraft =
  | { readonly path: string; readonly body: SessionIn | ComputerSessionIn; readonly faults?: undefined }
  | { readonly faults: Faults };

function pairsIn(text: string): { readonly pairs: Readonly<Record<string, string>>; readonly fault?: string } {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const wrong = lines.find((line) => line.indexOf('=') < 1);
  if (wrong !== undefined) return { pairs: {}, fault: `Write NAME=value, one a line, not "${wrong}".` };
  return { pairs: Object.fromEntries(lines.map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)])) };
}

const wholeFault = (text: string): string | undefined =>
  /^\s*(-?\d+)?\s*$/.test(text) ? undefined : `Write a whole number, not "${text}".`;

/** The request that a draft makes, or what is wrong with each field. What needs the server is left to it. */
export function readDraft(draft: Draft): ReadDraft {
  const { computer, isShell, hasTerminal } = draft;
  const read = isShell ? { words: [...SHELL, draft.command] } : readCommand(draft.command);
  const isEmpty = draft.command.trim() === '';
  const [env, labels] = [pairsIn(draft.env), pairsIn(draft.labels)];
  const faults = Object.entries({
    command: isEmpty ? 'Write the command to run.' : read.fault,
    env: env.fault,
    labels: labels.fault,
    priority: wholeFault(draft.priority),
    retries: wholeFault(draft.retries),
  }).filter(([, fault]) => fault !== undefined);
  if (faults.length > 0) return { faults: Object.fromEntries(faults) };
  const set = <K extends string, V>(key: K, text: string, value: V) =>
    (text.trim() === '' ? {} : { [key]: value }) as { [key in K]?: V };
  const body: ComputerSessionIn = {
    command: [...(read.words ?? [])],
    ...set('name', draft.name, draft.name.trim()),
    ...set('cwd', draft.cwd, draft.cwd.trim()),
    ...set('env', draft.env, env.pairs),
    ...set('labels', draft.labels, labels.pairs),
    ...set('priority', draft.priority, Number(draft.priority)),
    ...set('retries', draft.retries, Number(draft.retries)),
    ...set('timeout', draft.timeout, draft.timeout.trim()),
    ...set('grace', draft.grace, draft.grace.trim()),
    ...(hasTerminal && { terminal: {} }),
  };
  if (computer !== '') return { path: `/computers/${encodeURIComponent(computer)}/sessions`, body };
  return { path: '/sessions', body: { ...set('pool', draft.pool, draft.pool.trim()), ...body } };
}
