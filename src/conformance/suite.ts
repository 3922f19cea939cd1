// Laws as tests: one for each, and none that is passed over in silence.
import { describe, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { demand } from './demand.ts';

/** One law, checked in a world of its own. */
export interface Law<Id extends string, World, Harness> {
  readonly id: Id;
  readonly name: string;
  check(world: World, harness: Harness): Promise<void>;
}

/** What every suite needs of a harness. */
interface Excusable<Id extends string, World> {
  openWorld(): Promise<World>;
  readonly excuses?: Readonly<Partial<Record<Id, string>>>;
}

interface Closable {
  close(): Promise<void>;
}

async function hold<Id extends string, World extends Closable, Harness extends Excusable<Id, World>>(
  law: Law<Id, World, Harness>,
  harness: Harness,
): Promise<void> {
  const world = await harness.openWorld();
  try {
    await law.check(world, harness);
  } finally {
    await world.close();
  }
}

/** Checks the law; or its excuse, which is good only while the law truly does not hold. */
async function check<Id extends string, World extends Closable, Harness extends Excusable<Id, World>>(
  law: Law<Id, World, Harness>,
  harness: Harness,
): Promise<void> {
  if (harness.excuses?.[law.id] === undefined) return hold(law, harness);
  const isBroken = await hold(law, harness).then(
    () => false,
    () => true,
  );
  demand(isBroken, 'this law holds, and needs no excuse');
}

/** Which laws are broken, and how, and which excuses are not needed. */
export async function findBroken<Id extends string, World extends Closable, Harness extends Excusable<Id, World>>(
  laws: readonly Law<Id, World, Harness>[],
  harness: Harness,
): Promise<ReadonlyMap<Id, string>> {
  const broken = new Map<Id, string>();
  for (const law of laws) {
    await check(law, harness).catch((thrown) => broken.set(law.id, Fault.from(thrown).message));
  }
  return broken;
}

export interface Suite {
  /** `docker keeps the laws of a backend`. */
  readonly title: string;
  /** What is checked without any world. */
  checkKind(): void;
}

/** Registers one test for each law. */
export function testLaws<Id extends string, World extends Closable, Harness extends Excusable<Id, World>>(
  { title, checkKind }: Suite,
  laws: readonly Law<Id, World, Harness>[],
  harness: Harness,
): void {
  describe(`${title}:`, () => {
    it('its example is valid, and it accepts no unknown key', checkKind);
    for (const law of laws) {
      const excuse = harness.excuses?.[law.id];
      const name = excuse === undefined ? law.name : `excused from: ${law.name} (${excuse})`;
      it(name, () => check(law, harness));
    }
  });
}
