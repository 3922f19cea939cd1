import { Fault, type FaultKind } from '#core/fault.ts';

const KINDS: Readonly<Record<string, readonly [kind: FaultKind, says: string, remedy: string]>> = {
  ENOENT: ['missing', 'does not exist', 'Create it, or correct the path.'],
  EACCES: ['denied', 'is not readable for the server', 'Give the user of the server the right to read it.'],
  EPERM: ['denied', 'is not readable for the server', 'Give the user of the server the right to read it.'],
  ELOOP: ['invalid', 'is a symbolic link that leads back to itself', 'Remove the link.'],
  EISDIR: ['invalid', 'is a directory', 'Rename the directory so that it does not end like a document.'],
};

export const codeOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException | undefined)?.code ?? '';

/** What the file system refuses is the operator's to fix, and is no bug. */
export function fileFault(path: string, thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const code = codeOf(thrown);
  const [kind, says, remedy] = KINDS[code] ?? ['unavailable', `cannot be read (${code || String(thrown)})`, undefined];
  return new Fault(kind, `${path} ${says}.`, { cause: thrown, remedy });
}
