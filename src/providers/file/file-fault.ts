import { Fault, type FaultKind } from '#core/fault.ts';

const KINDS: Readonly<Record<string, readonly [kind: FaultKind, says: string, remedy: string]>> = {
  ENOENT: ['missing', 'does not exist', 'Create it, or correct the path.'],
  EACCES: ['denied', 'may not be read', 'Let the user that runs the server read it.'],
  EPERM: ['denied', 'may not be read', 'Let the user that runs the server read it.'],
  ELOOP: ['invalid', 'is a link that leads back to itself', 'Remove the link.'],
  EISDIR: ['invalid', 'is a directory', 'Give directories other names than documents.'],
};

export const codeOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException | undefined)?.code ?? '';

/** What the file system refuses is mended outside, and is no bug. */
export function fileFault(path: string, thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const code = codeOf(thrown);
  const [kind, says, remedy] = KINDS[code] ?? ['unavailable', `cannot be read (${code || String(thrown)})`, undefined];
  return new Fault(kind, `${path} ${says}.`, { cause: thrown, remedy });
}
