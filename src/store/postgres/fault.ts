import { Fault, type FaultKind } from '#core/fault.ts';

// Classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html
const KINDS: readonly (readonly [prefix: string, FaultKind, remedy: string])[] = [
  ['28', 'denied', 'Correct user and password in the address of the store.'],
  ['3D000', 'missing', 'Create the database, or correct its name in the address of the store.'],
  [
    '42501',
    'denied',
    'Give the user the right to create a schema in the database, or create the schema "muster" for it.',
  ],
  ['53', 'unavailable', 'Free disk space on the database server.'],
];

// The statement was refused or cut short for a reason that passes, or the connection's end is known only to us.
const PASSING = ['08', '25006', '40', '53300', '55P03', '57'];

/** SQLSTATE, where the server itself has answered. */
function stateOf(thrown: unknown): string | undefined {
  const { code, severity } = (thrown ?? {}) as { code?: string; severity?: string };
  return severity === undefined ? undefined : code;
}

/** Whether the database is unreachable or busy: a retry may help, and the last attempt may have been applied. */
export function isPassing(thrown: unknown): boolean {
  if (thrown instanceof Fault) return false;
  const state = stateOf(thrown);
  return state === undefined || PASSING.some((prefix) => state.startsWith(prefix));
}

/** Whether a table or a schema is not there (yet). */
export function isUndefined(thrown: unknown): boolean {
  return ['42P01', '3F000'].includes(stateOf(thrown) ?? '');
}

function passwordsIn(url: string): readonly string[] {
  const raw = /^[a-z]+:\/\/[^/?#]*?:([^/?#]*)@/i.exec(url)?.[1];
  const asked = /[?&]password=([^&]*)/i.exec(url)?.[1];
  const found = [raw, asked].filter((text) => text !== undefined && text !== '') as string[];
  return found.flatMap((text) => [text, decoded(text)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Any failure of the database as a fault, without the password. */
export function postgresFault(thrown: unknown, url: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const state = stateOf(thrown);
  const [, kind, remedy] = KINDS.find(([prefix]) => state?.startsWith(prefix)) ?? [];
  let message = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  for (const password of passwordsIn(url)) message = message.replaceAll(password, '***');
  return new Fault(kind ?? (isPassing(thrown) ? 'unavailable' : 'internal'), `PostgreSQL: ${message}`, { remedy });
}
