import type { z } from 'zod';
import { SessionIn } from './wire/session.ts';

type Sent = z.output<typeof SessionIn>;

// More is rare, and left to the schema.
const MOST_WORDS = 64;
const LONGEST = 500;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST && !value.includes('\0');

function isCommand(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_WORDS || value[0] === '') return false;
  for (const word of value) if (!isText(word)) return false;
  return true;
}

/**
 * Most requests for a session name a pool and a short command, and nothing else: for those this is what the schema would
 * make of them. The schema takes 4 % of the main thread under load. Undefined: the schema decides.
 */
export function plainSessions(): (value: unknown) => Sent | undefined {
  const { pool: _, command: __, ...defaults } = SessionIn.parse({ pool: 'any', command: ['any'] });
  return (value) => {
    if (typeof value !== 'object' || value === null) return undefined;
    let keys = 0;
    for (const key in value) {
      if (key !== 'pool' && key !== 'command') return undefined;
      keys += 1;
    }
    const { pool, command } = value as Readonly<Record<string, unknown>>;
    if (keys !== 2 || !isText(pool) || pool === '' || !isCommand(command)) return undefined;
    return { ...defaults, env: {}, labels: {}, pool, command };
  };
}
