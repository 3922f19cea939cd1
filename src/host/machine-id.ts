import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { bootId } from './processes.ts';

/** Minimal containers have no such file. */
function readMachineId(): string {
  try {
    return readFileSync('/etc/machine-id', 'latin1').trim();
  } catch {
    return '';
  }
}

/**
 * Equal for two processes that see the same files: the same machine since its start, and the same root folder, which a
 * container does not share with its host. Undefined where the system tells no machines apart. A hash, since
 * machine-id(5) is not to be shown to others.
 */
export function machineId(): string | undefined {
  const [id, boot] = [readMachineId(), bootId()];
  if (id === '' && boot === '') return undefined;
  const { dev, ino } = statSync('/');
  return hash('sha256', `muster machine ${id} ${boot} ${dev} ${ino}`, 'hex').slice(0, 32);
}
