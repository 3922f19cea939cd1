import { Fault, type FaultKind } from '#core/fault.ts';

// The primary result codes of SQLite: https://www.sqlite.org/rescode.html
const CODES: Readonly<Record<number, readonly [FaultKind, string, string]>> = {
  5: ['conflict', 'is in use by another process', 'Stop the other process, or use another directory.'],
  8: ['denied', 'cannot be written', 'Give this user the right to write the directory and its files.'],
  10: ['unavailable', 'cannot be read or written', 'Check the disk; see the system log.'],
  11: ['invalid', 'is damaged', 'Restore a backup into an empty directory.'],
  13: ['unavailable', 'cannot grow: the disk is full', 'Free disk space, then start again.'],
  14: ['denied', 'cannot be opened', 'Check that the directory exists and that this user may use it.'],
  26: ['invalid', 'is not a database', 'Name another file or directory.'],
};

const FILE_CODES: Readonly<Record<string, FaultKind>> = {
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENOSPC: 'unavailable',
  EDQUOT: 'unavailable',
  EIO: 'unavailable',
  EEXIST: 'conflict',
  ENOENT: 'missing',
  ENOTDIR: 'invalid',
  EISDIR: 'invalid',
};

/** What SQLite or the file system threw, as a fault that names the file. */
export function sqliteFault(thrown: unknown, file: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const { errcode, code, message } = thrown as { errcode?: number; code?: string; message?: string };
  const known = CODES[(errcode ?? 0) & 0xff];
  if (known) {
    const [kind, what, remedy] = known;
    return new Fault(kind, `The database ${file} ${what} (${message}).`, { at: file, remedy, cause: thrown });
  }
  const { kind, remedy } = Fault.from(thrown);
  return new Fault(FILE_CODES[code ?? ''] ?? kind, `The database ${file}: ${message}`, {
    at: file,
    ...(kind !== 'internal' && { remedy }),
    cause: thrown,
  });
}
