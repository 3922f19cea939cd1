// A bad document harms its own pool alone.

import { expect } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import type { DocumentState } from '#core/source.ts';
import { sourceStatus } from '#pools/status.ts';
import { documentOf, type SliceDocuments, type SliceHarness, type Tree } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld } from '#sim/slice/world.ts';
import { divisorOf } from './slice-story.ts';
import type { SliceLaw } from './slice-world.ts';

const EMPTY = { scaler: { min_idle_agents: 0, max_idle_agents: 0 } };
const SOURCE = 'documents';
/** A number that is none, in YAML. */
const BAD: NonNullable<SliceDocuments['bad']> = {
  text: 'name: odd\nauto_scaler:\n  max_agents: many\n',
  version: /^1$/,
  place: 'line 3, column 15: auto_scaler.max_agents',
};
const NAMED = { name: SOURCE, place: 'pools' } as const;

function statusOf({ life, clock }: SliceWorld) {
  const { view } = life.store;
  const status = sourceStatus({ view, timings: life.pools.timings(), nowMs: clock.now() }, SOURCE);
  const faulty = [...view.documents.by('source', SOURCE)].filter(({ fault }) => fault);
  return { status, faulty };
}

/** What a foreign document may not hold, and the key that is refused. */
function forbiddenTexts(harness: SliceHarness): readonly (readonly [what: string, text: string, key: string])[] {
  const backend = (config: Tree): string => JSON.stringify({ name: 'evil', auto_scaler: { backend: config } });
  return [
    ['the backend command', backend({ command: { start: 'id', stop: 'id', list: 'id' } }), 'backend.command'],
    ['the backend process', backend({ process: {} }), 'backend.process'],
    ...(harness.forbidden ?? []).map(([what, config, key]): readonly [string, string, string] => [
      what,
      documentOf(harness, 'evil', { ...EMPTY, backend: config }),
      `${harness.backend.kind}.${key}`,
    ]),
  ];
}

export const DOCUMENT_LAWS: readonly SliceLaw[] = [
  {
    id: 'bad document',
    name: 'a bad document among thousands is named with its place, and the others apply',
    async check(_stage, harness) {
      // All of them in the long run.
      const { mostDocuments = 10_000 } = harness;
      const good = Math.round(mostDocuments / divisorOf(harness)) - 1;
      const world = await openSliceWorld(harness, { sources: [NAMED], pageSize: 10 });
      for (let at = 0; at < good; at++) world.documents.write('pools', `p${at}`, documentOf(harness, `p${at}`, EMPTY));
      const { bad = BAD } = world.documents;
      const key = world.documents.write('pools', bad === BAD ? 'team/odd' : 'odd', bad.text);
      await world.clock.advance(MINUTE_MS);

      const { status, faulty } = statusOf(world);

      expect(status).toMatchObject({ documents: good + 1, pools: good, faulty: 1, failures: 0 });
      expect(status?.fault).toBeUndefined();
      const fault = { kind: 'invalid', place: bad.place };
      expect(faulty).toMatchObject([{ key, version: expect.stringMatching(bad.version), fault }]);
      expect(world.life.store.view.pools.size).toBe(good);
    },
  },
  {
    id: 'forbidden',
    name: 'a document that names what only the operator may is refused with the reason, and the others apply',
    async check(_stage, harness) {
      for (const [what, text, path] of forbiddenTexts(harness)) {
        const world = await openSliceWorld(harness, { sources: [NAMED] });
        world.documents.write('pools', 'before', documentOf(harness, 'before', EMPTY));
        const evil = world.documents.write('pools', 'evil', text);
        world.documents.write('pools', 'later', documentOf(harness, 'later', EMPTY));
        await world.clock.advance(MINUTE_MS);

        const { status, faulty } = statusOf(world);

        const [{ key, fault } = {} as DocumentState] = faulty;
        expect(key, what).toBe(evil);
        expect(fault?.message, what).toContain("the operator's own file");
        expect(fault?.place, what).toMatch(new RegExp(`^line 1, column \\d+: auto_scaler.*${path}$`));
        expect(status, what).toMatchObject({ pools: 2, faulty: 1 });
        const pools = [...world.life.store.view.pools.all()].map(({ name }) => name).toSorted();
        expect(pools, what).toEqual(['before', 'later']);
      }
    },
  },
];
