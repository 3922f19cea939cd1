// What the worker says about its end of a copy, and whether that is where we read or write ourselves: on a pool of this
// machine a session starts in the folder of its caller.
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import { Fault } from '#core/fault.ts';

/** The end of a copy on the worker. */
export interface WorkerEnd {
  readonly kind: 'file' | 'folder';
  /** Of the machine there; empty where it is unknown. */
  readonly boot: string;
  /** Device and inode of what is read, or of the folder that is written to and all above it. */
  readonly ids: readonly string[];
}

const LONGEST_LINE = 16 * 1024;

function wakeAt(stream: Duplex, woken: () => void): void {
  const events = ['readable', 'end', 'close', 'error'];
  const wake = (): void => {
    for (const event of events) stream.off(event, wake);
    woken();
  };
  for (const event of events) stream.on(event, wake);
}

/** The line that the worker sends first; what follows it stays in the stream. */
export async function readWorkerEnd(stream: Duplex): Promise<WorkerEnd> {
  let head: Buffer = Buffer.alloc(0);
  while (!head.includes('\n') && head.length < LONGEST_LINE) {
    const chunk = stream.read() as Buffer | null;
    if (chunk !== null) head = Buffer.concat([head, chunk]);
    else if (stream.errored) throw stream.errored;
    else if (stream.readableEnded || stream.destroyed) throw new Fault('unavailable', 'The worker sent nothing.');
    else await new Promise<void>((resolve) => wakeAt(stream, resolve));
  }
  const end = head.indexOf('\n');
  const [kind, boot = '', ...ids] = head.subarray(0, Math.max(end, 0)).toString().split(' ');
  if (kind !== 'file' && kind !== 'folder') throw new Fault('unsupported', 'The worker sent no archive.');
  if (end + 1 < head.length) stream.unshift(head.subarray(end + 1));
  return { kind, boot, ids };
}

async function idOf(path: string): Promise<string | undefined> {
  const about = await stat(path, { bigint: true }).catch(() => undefined);
  return about && `${about.dev}:${about.ino}`;
}

/** The ids of what is there of a path and of all folders above it. */
async function idsAbove(path: string): Promise<readonly (string | undefined)[]> {
  const above = dirname(path);
  return [await idOf(path), ...(above === path ? [] : await idsAbove(above))];
}

const intoItself = (path: string): Fault =>
  new Fault(
    'conflict',
    `The copy would write to what it reads: the worker is this machine, and ${path} is there too.`,
    {
      remedy: 'Nothing has to be copied, or name a target outside of the source.',
    },
  );

/** Throws where the target is what is read, or is inside of it: the copy would never end, or spoil it. */
export async function checkDownload({ kind, boot, ids }: WorkerEnd, target: string, ownBoot = ''): Promise<void> {
  const [source] = ids;
  if (source === undefined || ownBoot === '' || boot !== ownBoot) return;
  const own = kind === 'file' ? [await idOf(target)] : await idsAbove(target);
  if (own.includes(source)) throw intoItself(target);
}

/** As `checkDownload`; the name is that of the first entry, undefined for the contents of a folder. */
export async function checkUpload(
  { boot, ids }: WorkerEnd,
  { source, name }: { readonly source: string; readonly name: string | undefined },
  ownBoot = '',
): Promise<void> {
  const [folder] = ids;
  if (folder === undefined || ownBoot === '' || boot !== ownBoot) return;
  const path = resolve(source);
  const isSameName = name === basename(path) && (await idOf(dirname(path))) === folder;
  const own = await idOf(path);
  if (isSameName || (own !== undefined && ids.includes(own))) throw intoItself(source);
}
