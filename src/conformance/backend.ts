import { describe, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import type { AnyKind } from '#core/provider.ts';
import { BACKEND_LAWS, type BackendLaw } from './backend-laws.ts';
import { LIFE_LAWS } from './backend-life-laws.ts';
import type { BackendHarness, LawId } from './backend-world.ts';
import { demand } from './demand.ts';

const LAWS: readonly BackendLaw[] = [...BACKEND_LAWS, ...LIFE_LAWS];

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
  const odd = config.safeParse({ ...written, keyThatNobodyKnows: 1 });
  const isTaken = odd.success && 'keyThatNobodyKnows' in (odd.data as object);
  demand(!isTaken, 'a key that nobody knows reaches the backend');
}

async function checkLaw(law: BackendLaw, harness: BackendHarness): Promise<void> {
  const world = await harness.openWorld();
  try {
    await law.check(world, harness);
  } finally {
    await world.close();
  }
}

/** Which laws that backend breaks, and how; for tests of the suite itself. */
export async function brokenLaws(harness: BackendHarness): Promise<ReadonlyMap<LawId, string>> {
  const broken = new Map<LawId, string>();
  for (const law of LAWS.filter(({ id }) => harness.excuses?.[id] === undefined)) {
    await checkLaw(law, harness).catch((thrown) => broken.set(law.id, Fault.from(thrown).message));
  }
  return broken;
}

/** Registers one test for each law. */
export function testBackend(title: string, harness: BackendHarness): void {
  describe(`${title} keeps the laws of a backend:`, () => {
    it('its example is valid, and it takes no key that nobody knows', () => checkKind(harness.kind));
    for (const law of LAWS) {
      const excuse = harness.excuses?.[law.id];
      if (excuse === undefined) it(law.name, () => checkLaw(law, harness));
      else it.skip(`${law.name} (${excuse})`, () => {});
    }
  });
}
