import { fieldsOf, type KubeObject, listOf, textOf, valueAt } from '../objects/object.ts';
import { ageOf } from './human-duration.ts';
import type { Column } from './resource.ts';

export const column = (
  name: string,
  cell: Column['cell'],
  { type = 'string', priority = 0, format }: { type?: string; priority?: number; format?: string } = {},
): Column => ({ name, type, priority, cell, ...(format === undefined ? {} : { format }) });

export const NAME = column('Name', ({ metadata }) => metadata.name, { format: 'name' });
export const AGE = column('Age', ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs));

export const NAMESPACE_COLUMNS: readonly Column[] = [NAME, column('Status', ({ status }) => status?.phase ?? ''), AGE];

export const CONFIG_MAP_COLUMNS: readonly Column[] = [
  NAME,
  column('Data', ({ data, binaryData }) => Object.keys({ ...fieldsOf(data), ...fieldsOf(binaryData) }).length, {
    type: 'integer',
  }),
  AGE,
];

export const CRD_COLUMNS: readonly Column[] = [
  NAME,
  column('Created At', ({ metadata }) => metadata.creationTimestamp, { type: 'date' }),
];

function readiness({ status, spec }: KubeObject): string {
  const ready = listOf(status?.conditions)
    .map(fieldsOf)
    .find(({ type }) => type === 'Ready');
  const word = ready?.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable === true ? `${word},SchedulingDisabled` : word;
}

export const NODE_COLUMNS: readonly Column[] = [
  NAME,
  column('Status', readiness),
  column('Roles', () => '<none>'),
  AGE,
  column('Version', ({ status }) => valueAt(status, ['nodeInfo', 'kubeletVersion']) ?? ''),
];

/** `pod/name`, as events name what they are about. */
function involved(object: KubeObject): string {
  const { kind, name } = fieldsOf(object.involvedObject ?? object.regarding);
  return `${textOf(kind).toLowerCase()}/${textOf(name)}`;
}

export const EVENT_COLUMNS: readonly Column[] = [
  column('Last Seen', (event, nowMs) =>
    ageOf(event.lastTimestamp ?? event.deprecatedLastTimestamp ?? event.eventTime, nowMs),
  ),
  column('Type', ({ type }) => type ?? ''),
  column('Reason', ({ reason }) => reason ?? ''),
  column('Object', involved),
  column('Message', ({ message, note }) => textOf(message ?? note).trim()),
  column('Count', (event) => event.count ?? event.deprecatedCount ?? 1, { type: 'integer', priority: 1 }),
  column('Name', ({ metadata }) => metadata.name, { format: 'name', priority: 1 }),
];
