import { checkKind } from './backend.ts';
import { NODE_GROUP_CHANGE_LAWS } from './node-groups-change-laws.ts';
import { NODE_GROUP_FIND_LAWS } from './node-groups-find-laws.ts';
import type { NodeGroupsHarness, NodeGroupsLawId, NodeGroupsSubject } from './node-groups-world.ts';
import { findBroken, testLaws } from './suite.ts';

const LAWS = [...NODE_GROUP_FIND_LAWS, ...NODE_GROUP_CHANGE_LAWS];

/** Which laws those groups break, and how, and which excuses they do not need; for tests of the suite itself. */
export const brokenNodeGroupLaws = (subject: NodeGroupsSubject): Promise<ReadonlyMap<NodeGroupsLawId, string>> =>
  findBroken(LAWS, subject);

/** Registers one test for each law. */
export function testNodeGroups(title: string, harness: NodeGroupsHarness): void {
  const suite = { title: `${title} keeps the laws of node groups`, checkKind: () => checkKind(harness.kind) };
  testLaws(suite, LAWS, harness);
}
