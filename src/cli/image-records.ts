// What the server records of builds on this machine, and what it knows of those on others.
import type { Command } from 'commander';
import { SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { MOST_LOG } from '#core/image.ts';
import type { Image, ImageBuild, ImageBuildIn } from '../api/wire/image.ts';
import { type Cli, clientOf } from './command.ts';
import type { NamedImageEnd } from './images-local.ts';

const WITHIN_MS = 20 * SECOND_MS;
const MOST_ERROR = 20_000;

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** The end of a log says more than its beginning. */
function logOf(lines: readonly string[]): string {
  const text = lines.join('\n');
  return text.length > MOST_LOG ? text.slice(-MOST_LOG) : text;
}

function outcomeOf({ fault, isBuilt }: NamedImageEnd): ImageBuildIn['outcome'] {
  if (fault) return 'failed';
  return isBuilt ? 'built' : 'unchanged';
}

function bodyOf(end: NamedImageEnd, host: string): ImageBuildIn {
  const { builder, cloud, version, recipe, image, fault, startedAt, endedAt, log } = end;
  return {
    ...{ builder, cloud, host, version, recipe },
    outcome: outcomeOf(end),
    image: image && {
      ...{ name: image.name, reference: image.reference, ids: image.ids },
      built_at: timeOf(image.builtAt),
    },
    error: fault?.message.slice(0, MOST_ERROR),
    started_at: timeOf(startedAt),
    ended_at: timeOf(endedAt),
    log: logOf(log),
  };
}

/** Asks the server, also after Ctrl-C and never for long; answers a `Fault` where it cannot. */
async function asked<T>(cli: Cli, ask: (signal: AbortSignal) => Promise<T>): Promise<T | Fault> {
  const late = new AbortController();
  const stop = cli.terminal.clock.alarm(WITHIN_MS, () => late.abort());
  try {
    return await ask(late.signal);
  } catch (thrown) {
    return Fault.from(thrown);
  } finally {
    stop();
  }
}

/** Why the server has no record of this build; undefined: it has one. */
export async function recordBuild(
  cli: Cli,
  command: Command,
  { end, host }: { readonly end: NamedImageEnd; readonly host: string },
): Promise<Fault | undefined> {
  const answer = await asked(cli, (signal) =>
    clientOf(cli, command).call<ImageBuild>('/image-builds', { method: 'POST', body: bodyOf(end, host), signal }),
  );
  return answer instanceof Fault ? answer : undefined;
}

/** The images that the server knows, or why it does not say. */
export const imageRecords = (cli: Cli, command: Command): Promise<readonly Image[] | Fault> =>
  asked(cli, () => clientOf(cli, command).list<Image>('/images'));

/** Drops the record of an image that is gone; answers why it could not. */
export async function forgetRecord(cli: Cli, command: Command, id: string): Promise<Fault | undefined> {
  const path = `/images/${encodeURIComponent(id)}`;
  const answer = await asked(cli, (signal) => clientOf(cli, command).call(path, { method: 'DELETE', signal }));
  return answer instanceof Fault ? answer : undefined;
}
