import { checkKind } from './backend.ts';
import { RUNTIME_HOST_LAWS } from './runtime-host-laws.ts';
import type { RuntimeHostHarness, RuntimeHostLawId, RuntimeHostSubject } from './runtime-host-world.ts';
import { findBroken, testLaws } from './suite.ts';

/** Which laws that host breaks, and how, and which excuses it does not need; for tests of the suite itself. */
export const brokenRuntimeHostLaws = (subject: RuntimeHostSubject): Promise<ReadonlyMap<RuntimeHostLawId, string>> =>
  findBroken(RUNTIME_HOST_LAWS, subject);

/** Registers one test for each law. */
export function testRuntimeHost(title: string, harness: RuntimeHostHarness): void {
  const suite = { title: `${title} keeps the laws of a runtime host`, checkKind: () => checkKind(harness.kind) };
  testLaws(suite, RUNTIME_HOST_LAWS, harness);
}
