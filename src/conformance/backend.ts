import type { AnyKind } from '#core/provider.ts';
import { EXTRA_LAWS } from './backend-extra-laws.ts';
import { BACKEND_LAWS, type BackendLaw } from './backend-laws.ts';
import { LIFE_LAWS } from './backend-life-laws.ts';
import { REACH_LAWS } from './backend-reach-laws.ts';
import type { BackendHarness, LawId } from './backend-world.ts';
import { demand } from './demand.ts';
import { findBroken, testLaws } from './suite.ts';

const LAWS: readonly BackendLaw[] = [...BACKEND_LAWS, ...LIFE_LAWS, ...EXTRA_LAWS, ...REACH_LAWS];

/** A configuration as users write it, with the keys that the schema knows. */
export function camelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
    camelKeys(inner),
  ]);
  return Object.fromEntries(entries);
}

/** The laws that need no cloud. */
export function checkKind({
  config,
  example,
  summary,
}: Pick<AnyKind<unknown>, 'config' | 'example' | 'summary'>): void {
  const written = camelKeys(example) as object;
  const parsed = config.safeParse(written);
  demand(parsed.success, `the example is not valid: ${parsed.error?.message}`);
  demand(/^[A-Z].*\.$/.test(summary), 'the summary must be a sentence');
  const odd = config.safeParse({ ...written, unknownKey: 1 });
  const isTaken = odd.success && 'unknownKey' in (odd.data as object);
  demand(!isTaken, 'an unknown key reaches the backend');
}

/** Which laws that backend breaks, and how, and which excuses it does not need; for tests of the suite itself. */
export const brokenLaws = (harness: BackendHarness): Promise<ReadonlyMap<LawId, string>> => findBroken(LAWS, harness);

/** Registers one test for each law. */
export function testBackend(title: string, harness: BackendHarness): void {
  const suite = { title: `${title} keeps the laws of a backend`, checkKind: () => checkKind(harness.kind) };
  testLaws(suite, LAWS, harness);
}
