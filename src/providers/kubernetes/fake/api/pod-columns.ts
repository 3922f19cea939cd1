import { type Fields, fieldsOf, type KubeObject, listOf, textOf, valueAt } from '../objects/object.ts';
import { AGE, column, NAME } from './columns.ts';
import type { Column } from './resource.ts';

const containers = ({ status }: KubeObject): readonly Fields[] => listOf(status?.containerStatuses).map(fieldsOf);

const total = ({ spec }: KubeObject): number => listOf(spec?.containers).length;

function reasonOf(container: Fields): string {
  const waiting = textOf(valueAt(container, ['state', 'waiting', 'reason']));
  if (waiting !== '') return waiting;
  const terminated = fieldsOf(valueAt(container, ['state', 'terminated']));
  if (Object.keys(terminated).length === 0) return '';
  return textOf(terminated.reason) || `ExitCode:${String(terminated.exitCode)}`;
}

/** The word in the column Status, by the rules of the API server's printer. */
export function podStatus(pod: KubeObject): string {
  const { metadata, status } = pod;
  if (metadata.deletionTimestamp !== undefined) return status?.reason === 'NodeLost' ? 'Unknown' : 'Terminating';
  const reason = containers(pod)
    .map(reasonOf)
    .find((word) => word !== '');
  return reason ?? (textOf(status?.reason) || textOf(status?.phase));
}

const restarts = (pod: KubeObject): number =>
  containers(pod).reduce((sum, { restartCount }) => sum + Number(restartCount ?? 0), 0);

const orNone = (value: unknown): unknown => (value === undefined || value === '' ? '<none>' : value);

export const POD_COLUMNS: readonly Column[] = [
  NAME,
  column('Ready', (pod) => `${containers(pod).filter(({ ready }) => ready === true).length}/${total(pod)}`),
  column('Status', podStatus),
  column('Restarts', (pod) => String(restarts(pod))),
  AGE,
  column('IP', ({ status }) => orNone(status?.podIP), { priority: 1 }),
  column('Node', ({ spec }) => orNone(spec?.nodeName), { priority: 1 }),
  column('Nominated Node', ({ status }) => orNone(status?.nominatedNodeName), { priority: 1 }),
  column('Readiness Gates', () => '<none>', { priority: 1 }),
];
