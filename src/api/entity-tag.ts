import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import type { Expectation } from '../pools/pools.ts';
import { httpFault } from './problem.ts';

export function tagOf({ revision }: Pool): string {
  return `"${revision}"`;
}

// Proxies that compress weaken tags on the way; a revision means the same either way.
const TAG = /^(?:W\/)?"(\d+)"$/;

function revisionsIn(header: string, name: string): readonly number[] {
  return header.split(',').map((part) => {
    const match = TAG.exec(part.trim());
    if (match) return Number(match[1]);
    const remedy = 'Send the ETag of the last answer with its quotes, or *.';
    throw httpFault(400, 'invalid', `${name} is not an ETag of this server.`, { at: `headers.${name}`, remedy });
  });
}

/** What `If-Match` and `If-None-Match: *` expect of a pool; throws `stale` where its existence is already wrong. */
export function expectationIn(
  headers: { 'if-match'?: string | undefined; 'if-none-match'?: string | undefined },
  pool: Pool | undefined,
): Expectation {
  const match = headers['if-match'];
  const noneMatch = headers['if-none-match'];
  if (noneMatch !== undefined) {
    if (noneMatch.trim() !== '*') {
      throw httpFault(400, 'invalid', 'A write takes only `If-None-Match: *`.', { at: 'headers.if-none-match' });
    }
    if (pool) throw new Fault('stale', `Pool ${pool.name} exists already.`);
    return { revision: 0 };
  }
  if (match === undefined) return {};
  if (match.trim() === '*') {
    if (!pool) throw new Fault('stale', 'The pool does not exist yet.');
    return { revision: pool.revision };
  }
  const revisions = revisionsIn(match, 'if-match');
  if (!pool) throw new Fault('stale', 'The pool no longer exists.');
  return { revision: revisions.includes(pool.revision) ? pool.revision : (revisions[0] ?? 0) };
}
