import type { Ask } from '../world.ts';
import { purge, type TaskDefinition } from './task-definition.ts';
import { ecsPage } from './tasks.ts';

function all({ region, nowMs }: Ask): TaskDefinition[] {
  purge(region, nowMs);
  return [...region.taskDefinitions.values()];
}

const orderOf = ({ family, revision }: TaskDefinition): string => `${family}:${String(revision).padStart(9, '0')}`;

/** What is called a prefix is the whole name of a family. */
export function listTaskDefinitions(ask: Ask): object {
  const { familyPrefix, status = 'ACTIVE' } = ask.body;
  const found = all(ask).filter(
    (one) => one.status === status && (familyPrefix === undefined || one.family === familyPrefix),
  );
  const { items, nextToken } = ecsPage(
    ask,
    found.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)),
    orderOf,
  );
  return { taskDefinitionArns: items.map(({ arn }) => arn), nextToken };
}

/** Families with an active revision, those without one, or all; also those whose deletion is in progress. */
export function listTaskDefinitionFamilies(ask: Ask): object {
  const { familyPrefix = '', status = 'ALL' } = ask.body;
  const byFamily = Map.groupBy(all(ask), ({ family }) => family);
  const passes = ([family, revisions]: [string, TaskDefinition[]]): boolean => {
    const isActive = revisions.some((one) => one.status === 'ACTIVE');
    return family.startsWith(String(familyPrefix)) && (status === 'ALL' || (status === 'ACTIVE') === isActive);
  };
  const found = [...byFamily].filter(passes).map(([family]) => family);
  const { items, nextToken } = ecsPage(ask, found.toSorted(), (family) => family);
  return { families: items, nextToken };
}
