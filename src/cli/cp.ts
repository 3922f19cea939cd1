import { lstat } from 'node:fs/promises';
import { basename, posix, resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf } from './command.ts';
import { type CopyCount, copyTarget, meansContents, noCopies, receiveArchive, sendArchive } from './copy-archive.ts';
import { checkDownload, checkUpload, readWorkerEnd } from './copy-ends.ts';
import { withExamples } from './example.ts';
import { sessionPath } from './follow.ts';
import { shownBytes } from './synced-folder.ts';
import { oneLine } from './table.ts';
import { openProgress, remark } from './terminal.ts';
import { openTunnel } from './tunnel.ts';

/** One side of a copy, as it was written. */
type Side = { readonly session: string; readonly path: string } | { readonly path: string };

/** `SESSION:PATH` is on a worker. A local name with a colon is written with `./` before it. */
export function sideOf(written: string): Side {
  const at = written.indexOf(':');
  if (at <= 0 || written.startsWith('.') || written.startsWith('/')) return { path: written };
  return { session: written.slice(0, at), path: written.slice(at + 1) || '.' };
}

const SHOWN_NAMES = 5;

/** What a copy goes to or comes from, besides this machine. */
export interface CopyPlace {
  /** Its path of the API. */
  pathOf(name: string): string;
  /** As in `Exactly one side must be on …`. */
  readonly said: string;
  readonly example: string;
}

const ON_WORKER: CopyPlace = {
  pathOf: sessionPath,
  said: 'a worker, written SESSION:PATH',
  example: 'muster cp @last:out.txt .',
};

interface Copy {
  readonly cli: Cli;
  readonly client: Client;
  readonly place: CopyPlace;
  readonly count: CopyCount;
}

function tunnelTo(
  { cli, client, place }: Copy,
  session: string,
  verb: 'read' | 'write',
  path: string,
): Promise<Duplex> {
  const query = new URLSearchParams({ path });
  const { signal, terminal } = cli;
  return openTunnel(client, `${place.pathOf(session)}/${verb}?${query}`, { signal, clock: terminal.clock });
}

async function download(copy: Copy, from: { session: string; path: string }, to: string): Promise<void> {
  const target = await copyTarget(from.path, to);
  const stream = await tunnelTo(copy, from.session, 'read', from.path);
  try {
    stream.end();
    const there = await readWorkerEnd(stream);
    await checkDownload(there, target, copy.cli.bootId?.());
    await receiveArchive(there.kind, stream, { target, count: copy.count });
  } finally {
    stream.destroy();
  }
}

async function upload(copy: Copy, from: string, to: { session: string; path: string }): Promise<void> {
  await lstat(from).catch((thrown) => {
    throw new Fault('missing', `There is no file or folder ${from}.`, { cause: thrown });
  });
  const stream = await tunnelTo(copy, to.session, 'write', to.path);
  try {
    const there = await readWorkerEnd(stream);
    const isInto = there.kind === 'folder';
    const name = isInto ? (meansContents(from) ? undefined : basename(resolve(from))) : posix.basename(to.path);
    await checkUpload(there, { source: from, name }, copy.cli.bootId?.());
    const done = new Promise<void>((resolve, reject) => {
      stream.on('end', resolve).on('error', reject).resume();
    });
    await Promise.all([sendArchive(from, { name, to: stream, count: copy.count }), done]);
  } finally {
    stream.destroy();
  }
}

/** Copies between this machine and another one; each side as it was written. */
export async function copyFiles(
  cli: Cli,
  client: Client,
  { sides, place = ON_WORKER }: { readonly sides: readonly [string, string]; readonly place?: CopyPlace },
): Promise<void> {
  const [from, to] = sides.map(sideOf) as [Side, Side];
  const copy: Copy = { cli, client, place, count: noCopies() };
  const { count } = copy;
  const said = (): string => `${count.files} ${count.files === 1 ? 'file' : 'files'}, ${shownBytes(count.bytes)}`;
  const progress = openProgress(cli.terminal, () => `copied ${said()}`);
  try {
    if ('session' in from && !('session' in to)) await download(copy, from, to.path);
    else if ('session' in to && !('session' in from)) await upload(copy, from.path, to);
    else
      throw new Fault('invalid', `Exactly one side must be on ${place.said}.`, {
        remedy: `For example \`${place.example}\`; write ./ before a local name with a colon.`,
      });
  } finally {
    progress.stop();
  }
  if (count.leftOut.length > 0)
    remark(
      cli.terminal,
      `left out devices, pipes, and links out of the folder: ${oneLine(count.leftOut.slice(0, SHOWN_NAMES).join(', '))}`,
    );
  remark(cli.terminal, `copied ${said()}`);
}

function cpCommand(cli: Cli): Command {
  const command = new Command('cp')
    .description('copy files and folders from or to the worker of a session')
    .argument('<from>', 'SESSION:PATH, or a path of this machine')
    .argument('<to>', 'a path of this machine, or SESSION:PATH')
    .action((from: string, to: string, _options, command: Command) =>
      copyFiles(cli, clientOf(cli, command), { sides: [from, to] }),
    );
  return withExamples(command, [
    ['muster cp sweep/3:out/model.pt .', 'from the fourth session of a count'],
    ['muster cp data.csv @last:input/', 'into a folder that is there'],
    ['muster cp @last:out/. results', 'what is inside of a folder'],
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'cp', order: 26, make: cpCommand }];
