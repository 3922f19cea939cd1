import type { Machine } from '#core/provider.ts';

const STATES: Readonly<Record<string, Machine['state'] | 'gone'>> = {
  creating: 'creating',
  pending: 'creating',
  provisioning: 'creating',
  starting: 'creating',
  booting: 'creating',
  deleting: 'deleting',
  stopping: 'deleting',
  terminating: 'deleting',
  'shutting-down': 'deleting',
  failed: 'failed',
  error: 'failed',
  deleted: 'gone',
  terminated: 'gone',
  gone: 'gone',
};

/** One machine a line: its name and, after blanks, a word for what it does; any other word means that it runs. */
export function readListing(lines: readonly string[]): Machine[] {
  const machines = new Map<string, Machine>();
  for (const line of lines) {
    const [name = '', word = ''] = line.trim().split(/\s+/);
    const state = STATES[word.toLowerCase()] ?? 'running';
    // Scripts cannot tell whose a machine is, nor how old it is.
    if (name !== '' && state !== 'gone') machines.set(name, { name, mark: undefined, createdAt: 0, state });
  }
  return [...machines.values()];
}

/** The name in what a start script printed: the first word of its last line; whatever it said before is talk. */
export function readName(lines: readonly string[]): string | undefined {
  return lines.at(-1)?.trim().split(/\s+/)[0];
}
