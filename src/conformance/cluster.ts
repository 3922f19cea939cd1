import { checkKind } from './backend.ts';
import { CLUSTER_LAWS } from './cluster-laws.ts';
import type { ClusterHarness, ClusterLawId, ClusterSubject } from './cluster-world.ts';
import { findBroken, testLaws } from './suite.ts';

/** Which laws that access breaks, and how, and which excuses it does not need; for tests of the suite itself. */
export const brokenClusterLaws = (subject: ClusterSubject): Promise<ReadonlyMap<ClusterLawId, string>> =>
  findBroken(CLUSTER_LAWS, subject);

/** Registers one test for each law. */
export function testCluster(title: string, harness: ClusterHarness): void {
  const suite = { title: `${title} keeps the laws of a cluster's access`, checkKind: () => checkKind(harness.kind) };
  testLaws(suite, CLUSTER_LAWS, harness);
}
