// The login of a person, as `az login` keeps it.
import { execFile } from 'node:child_process';
import { answered, plainMessage } from '#core/answer.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Token } from '#rest/tokens.ts';

interface Answer {
  readonly accessToken?: string;
  /** Seconds since 1970, from version 2.54 on; `expiresOn` is in local time and names no zone. */
  readonly expires_on?: number;
}

const WITHIN_MS = 60 * SECOND_MS;

interface Ended {
  readonly failure: (Error & { readonly code?: string | number | null }) | null;
  readonly output: string;
  readonly errors: string;
}

function run(program: string, args: readonly string[], signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(program, args, { signal }, (failure, output, errors) => resolve({ failure, output, errors }));
  });
}

/** Nothing where `az` is not installed. */
export async function cliToken(
  clock: Clock,
  resource: string,
  signal: AbortSignal,
  az = 'az',
): Promise<Token | undefined> {
  const args = ['account', 'get-access-token', '--resource', resource, '--output', 'json'];
  const patience = { clock, what: 'az account get-access-token', withinMs: WITHIN_MS };
  const { failure, output, errors } = await answered(patience, signal, (ending) => run(az, args, ending));
  if (failure?.code === 'ENOENT') return undefined;
  if (failure)
    throw new Fault('unauthenticated', `az account get-access-token failed: ${plainMessage(errors)}`, {
      remedy: 'Log in with az login, as the user that the server runs as.',
    });
  const { accessToken, expires_on: endSeconds } = read(output);
  // What it printed may be half a token, so no message shows it.
  if (!accessToken || !endSeconds)
    throw new Fault('unauthenticated', 'az account get-access-token printed no token with its end.', {
      remedy: 'Update the program az to 2.54 or newer.',
    });
  return { value: accessToken, expiresAt: endSeconds * SECOND_MS };
}

function read(output: string): Answer {
  try {
    return (JSON.parse(output) ?? {}) as Answer;
  } catch {
    return {};
  }
}
