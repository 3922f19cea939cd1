import { type FileHandle, open, rm } from 'node:fs/promises';
import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import { type Cli, type CliCommand, clientOf } from './command.ts';
import { print, startProgress } from './terminal.ts';

function whyNot(thrown: unknown, file: string): Fault {
  const { code } = thrown as NodeJS.ErrnoException;
  if (thrown instanceof Fault || code === undefined) return Fault.from(thrown);
  if (code === 'EEXIST')
    return new Fault('conflict', `${file} exists already.`, { remedy: 'Name a file that does not exist yet.' });
  return new Fault('invalid', `Cannot write ${file}: ${code}.`, {
    remedy: 'Check the path and the free space on the disk.',
  });
}

/** Writes a new file with mode 600; a partial file is deleted. */
async function fill(file: string, pieces: () => Promise<AsyncIterable<Uint8Array>>): Promise<number> {
  let handle: FileHandle | undefined;
  let bytes = 0;
  try {
    // The file is created exclusively: an existing one is never overwritten.
    handle = await open(file, 'wx', 0o600);
    for await (const piece of await pieces()) {
      await handle.writeFile(piece);
      bytes += piece.byteLength;
    }
    await handle.sync();
    return bytes;
  } catch (thrown) {
    if (handle) await rm(file, { force: true });
    throw whyNot(thrown, file);
  } finally {
    await handle?.close();
  }
}

function backupCommand(cli: Cli): Command {
  return new Command('backup')
    .description('write a consistent copy of everything to a file')
    .argument('<file>', 'a new file; it will contain the keys of the cluster')
    .action(async (file: string, _options, command: Command) => {
      const client = clientOf(cli, command);
      const stop = startProgress(cli.terminal, () => 'writing the backup');
      const bytes = await fill(file, () => client.bytes('/backup', { signal: cli.signal })).finally(stop);
      print(
        cli.terminal,
        `Backup of ${bytes} bytes written to ${file}. \`muster restore ${file}\` restores it into an empty store.`,
      );
    });
}

export const commands: readonly CliCommand[] = [{ name: 'backup', order: 160, make: backupCommand }];
