// Who may create which computer, and who may use it.
import type { ComputerCaller, ComputerOwner } from '#core/computer.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import type { ComputerSettings } from './section.ts';

/** A platform of the server itself, one that acts as an account of its cloud, or a backend of one's own: an operator would get the rights of that. */
export function checkPlatform(what: string, needsAdmin: boolean, { isAdmin }: ComputerCaller): void {
  if (isAdmin || !needsAdmin) return;
  throw new Fault('denied', `Only admins may create a computer on ${what}.`, {
    at: 'platform',
    remedy: "Use a token of an admin, or a template that `computers.templates` of the server's file names.",
  });
}

export function checkCountOfToken(count: number, { maxPerToken }: Pick<ComputerSettings, 'maxPerToken'>): void {
  if (count < maxPerToken) return;
  throw new Fault('quota', `This token has ${count} computers already.`, {
    remedy: 'Remove one with `muster computer rm`, or raise `computers.max_per_token`.',
  });
}

/** When a new computer ends; undefined: never. */
export function endOfNew(
  ttlMs: number | 'off' | undefined,
  now: number,
  settings: ComputerSettings,
): number | undefined {
  const { defaultTtl, maxTtl, allowNoTtl } = settings;
  if (ttlMs === 'off') {
    if (allowNoTtl) return undefined;
    throw new Fault('invalid', 'A computer must have a time to live here.', {
      at: 'ttl',
      remedy: `Give one of at most ${formatDuration(maxTtl)}, or set \`computers.allow_no_ttl\`.`,
    });
  }
  const lastsMs = ttlMs ?? defaultTtl;
  if (lastsMs > 0 && lastsMs <= maxTtl) return now + lastsMs;
  throw new Fault('invalid', `A computer lasts at most ${formatDuration(maxTtl)}.`, {
    at: 'ttl',
    remedy: 'Give a shorter time, or raise `computers.max_ttl`.',
  });
}

/** Why this caller may not use, extend or remove it; undefined: it may. */
export function refusesUse({ name, by, token }: ComputerOwner, caller: ComputerCaller): Fault | undefined {
  if (caller.isAdmin || (token === undefined ? by === caller.who : token === caller.token)) return undefined;
  return new Fault('denied', `Computer ${name} belongs to ${by}.`, {
    remedy: 'Its creator and admins may use it.',
  });
}
