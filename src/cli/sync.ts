import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { Fault } from '#core/fault.ts';
import type { FileUsage, MissingFiles } from '../api/wire/file.ts';
import type { ApiRequest, Client } from './client.ts';
import type { Cli } from './command.ts';
import { inTurns } from './in-turns.ts';
import { patiently } from './patience.ts';
import {
  checkSize,
  findEntries,
  type LocalFile,
  type LocalManifest,
  readEntries,
  shownBytes,
} from './synced-folder.ts';
import { openProgress, remark } from './terminal.ts';
import { archiveOf, inBatches, sumOfBytes } from './upload-batches.ts';

export interface SyncOptions {
  /** As given; `true` where no folder was named. */
  readonly sync?: string | true;
  readonly yes?: boolean;
}

const UPLOADS_AT_ONCE = 4;
const HASHES_AT_ONCE = 10_000;
const WHOLE_BYTES = 1024 * 1024;

/** The root and the home folder are almost never meant, and hold secrets. */
function refuseAll(cli: Cli, folder: string, isSure: boolean): void {
  const home = cli.variable('HOME') ?? homedir();
  if (isSure || !`${home}/`.startsWith(folder === '/' ? '/' : `${folder}/`)) return;
  const what = folder === '/' ? 'the whole machine' : folder === home ? 'your home folder' : 'a folder above your home';
  throw new Fault('invalid', `${folder} is ${what}.`, {
    remedy: 'Name a folder after --sync, or add --yes to send it nevertheless.',
  });
}

/** The hashes that the server has not got from this token. */
async function missingOf(cli: Cli, client: Client, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  const missing = new Set<string>();
  for (let at = 0; at < hashes.length; at += HASHES_AT_ONCE) {
    const body = { hashes: hashes.slice(at, at + HASHES_AT_ONCE) };
    const ask = () => client.call<MissingFiles>('/files/missing', { method: 'POST', body });
    for (const hash of (await patiently(cli, ask)).missing) missing.add(hash);
  }
  return missing;
}

async function bodyOf(path: string, bytes: number): Promise<ApiRequest['body']> {
  return bytes <= WHOLE_BYTES ? readFile(path) : Readable.toWeb(createReadStream(path));
}

/** Sends some files in one request, and repeats it while the server is away. A file that has changed is named. */
async function upload(cli: Cli, client: Client, folder: string, files: readonly LocalFile[]): Promise<void> {
  const put = async (): Promise<void> => {
    const [first] = files;
    if (files.length !== 1 || !first)
      return client.call('/files', { method: 'POST', body: await archiveOf(folder, files), signal: cli.signal });
    const body = await bodyOf(join(folder, first.path), first.bytes);
    return client.call(`/files/${first.hash}`, { method: 'PUT', body, signal: cli.signal });
  };
  await patiently(cli, put).catch((thrown) => {
    const fault = Fault.from(thrown);
    const changed = files.length === 1 ? files[0] : files.find(({ hash }) => fault.message.includes(hash));
    throw fault.kind === 'invalid' && changed
      ? new Fault('invalid', `${changed.path}: ${fault.message}`, { remedy: fault.remedy })
      : fault;
  });
}

/** Sends what the server lacks of a folder; the manifest goes last, so that it never names what is not there. */
async function send(cli: Cli, client: Client, folder: string, manifest: LocalManifest): Promise<void> {
  const missing = await missingOf(cli, client, [manifest.hash, ...manifest.contents.map(({ hash }) => hash)]);
  const wanted = manifest.contents.filter(({ hash }) => missing.has(hash));
  const total = sumOfBytes(wanted);
  let sent = 0;
  let done = 0;
  const progress = openProgress(
    cli.terminal,
    () => `sending files: ${done} of ${wanted.length}, ${shownBytes(sent)} of ${shownBytes(total)}`,
  );
  try {
    await inTurns(inBatches(wanted), UPLOADS_AT_ONCE, async (files) => {
      await upload(cli, client, folder, files);
      sent += sumOfBytes(files);
      done += files.length;
    });
  } finally {
    progress.stop();
  }
  if (!missing.has(manifest.hash)) return;
  const body = Buffer.from(manifest.text);
  await patiently(cli, () => client.call(`/files/${manifest.hash}`, { method: 'PUT', body }));
}

/** Sends a folder; answers what a session names it by. */
export async function sendFolder(cli: Cli, client: Client, options: SyncOptions): Promise<{ manifest: string }> {
  const folder = resolve(options.sync === true || options.sync === undefined ? '.' : options.sync);
  refuseAll(cli, folder, options.yes === true);
  const { session_bytes: bytes, session_files: files } = await client.call<FileUsage>('/files');
  const found = await findEntries(folder);
  if (found.others.length > 0)
    remark(cli.terminal, `left out what is neither a file nor a link: ${found.others.slice(0, 5).join(', ')}`);
  checkSize(found, { bytes, files });
  const manifest = await readEntries(found);
  await send(cli, client, found.folder, manifest);
  return { manifest: manifest.hash };
}
