import type { HostMove, Runtime, RuntimeHost } from '../api/wire/runtime.ts';
import { ageOf, moment, type TableLayout } from './show.ts';
import { oneLine, pairsLine, renderFacts } from './table.ts';

const GIB = 2 ** 30;

export const runtimeListing = (nowMs: number): TableLayout<Runtime> => ({
  nothing: 'No runtimes.',
  columns: [
    { title: 'ID', value: ({ id }) => id },
    { title: 'PHASE', value: ({ phase }) => phase },
    { title: 'SLOTS', value: ({ slots }) => slots, align: 'right' },
    { title: 'VERSION', value: ({ version, running_version: running }) => running ?? version },
    { title: 'PROVISIONER', value: ({ provisioner }) => provisioner },
    { title: 'HOST', value: ({ grant }) => grant?.host },
    { title: 'AGE', value: ({ created_at: at }) => ageOf(at, nowMs), align: 'right' },
    { title: 'WHY', value: ({ why }) => oneLine(why ?? '') },
  ],
});

export const hostListing = (): TableLayout<RuntimeHost> => ({
  nothing: 'No hosts: the set has no static provisioner.',
  columns: [
    { title: 'HOST', value: ({ host }) => host },
    { title: 'SLOTS', value: ({ slots }) => slots, align: 'right' },
    { title: 'USED', value: ({ used }) => used, align: 'right' },
    { title: 'FREE', value: ({ free }) => free, align: 'right' },
    { title: 'STATE', value: ({ drained, slots }) => (slots === 0 ? 'not in the set' : drained ? 'drained' : 'open') },
    { title: 'PROVISIONERS', value: ({ provisioners }) => provisioners.join(', ') },
    { title: 'RUNTIMES', value: ({ runtimes }) => runtimes.join(', ') },
  ],
});

/** One line about it, for people who wait. */
export function runtimeLine({ id, phase, why, grant }: Runtime): string {
  const where = phase === 'ready' && grant ? ` at ${grant.host}` : '';
  const how = phase === 'error' ? 'in error' : phase;
  return oneLine(`Runtime ${id} is ${how}${where}.${why ? ` ${why}` : ''}`);
}

export function runtimeFacts(runtime: Runtime): string {
  const { grant, version } = runtime;
  return renderFacts([
    ['Id', runtime.id],
    ['Provisioner', runtime.provisioner],
    ['Phase', `${runtime.phase} since ${moment(runtime.since)}`],
    ['Why', runtime.why && oneLine(runtime.why)],
    ['Slots', String(runtime.slots)],
    ['Version', version === undefined ? 'latest' : `${version} (pinned)`],
    ['Applied', runtime.running_version],
    ['Environment', runtime.environment],
    ['Annotations', pairsLine(runtime.annotations)],
    ['Host', grant?.host],
    ['Audience', grant?.audience],
    ['Data', grant?.data_dir],
    ['Grant', grant && `${grant.cpu} CPU, ${grant.memory_gb} GB memory, ${grant.storage_bytes / GIB} GiB storage`],
    ['Created', moment(runtime.created_at)],
  ]);
}

export function movesText(host: string, moves: readonly HostMove[], areDone: boolean): string {
  const lines = moves.map(({ runtime, slots, to }) => {
    const where = to === undefined ? 'no other host has room' : `${areDone ? 'moved' : 'would move'} to ${to}`;
    return `  ${oneLine(`${runtime} (${slots} slots): ${where}`)}`;
  });
  const rest = moves.length === 0 ? 'No runtime lives there.' : areDone ? 'Its runtimes:' : 'To move them, add --move:';
  return [`Host ${host} takes no new runtimes. ${rest}`, ...lines].join('\n');
}
