import { expect, inject, test } from 'vitest';
import { type Point, pointsOf } from '#store/testing/mortal.ts';
import { type Lived, live } from './testing/life.ts';
import { TEXTS } from './testing.ts';

const GIB = 2 ** 30;

const IS_LONG = inject('sliceStride') === 1;

// Some of the points here, all of them in `npm run test:long`. The code of both forms is the same but for the claims.
const FORMS = {
  statefulset: {
    claim: 'persistentvolumeclaims/data-runtime-a-0',
    workload: 'statefulsets/runtime-a',
    stride: 3,
  },
  deployment: { claim: 'persistentvolumeclaims/runtime-a', workload: 'deployments/runtime-a', stride: 7 },
} as const;
const FOREIGN = ['services/foreign', 'persistentvolumeclaims/data-foreign-0'];

/** What is left of a life, without the names of pods, which a Deployment chooses. */
const endOf = ({ steps, lostClaims, claims, storage, foreign }: Lived) => ({
  steps: Object.fromEntries(
    Object.entries(steps).map(([step, names]) => [
      step,
      names.map((name) => (name.startsWith('pods/') ? 'pods/one' : name)).toSorted(),
    ]),
  ),
  lostClaims,
  claims: claims.length,
  storage,
  foreign,
});

function endFor({ claim, workload }: (typeof FORMS)[keyof typeof FORMS]): ReturnType<typeof endOf> {
  const ingresses = ['ingresses/grpc-runtime-a', 'ingresses/http-runtime-a'];
  const whole = [...FOREIGN, ...ingresses, claim, workload, 'services/runtime-a', 'pods/one'].toSorted();
  return {
    steps: {
      ready: whole,
      resized: whole,
      hibernated: [...FOREIGN, claim].toSorted(),
      awake: whole,
      gone: FOREIGN.toSorted(),
    },
    lostClaims: [],
    claims: 1,
    storage: [80 * GIB],
    foreign: [],
  };
}

/** Lives it once more with that failure; answers what is wrong. */
async function wrongAt(point: Point, whole: Lived, form: keyof typeof FORMS): Promise<readonly string[]> {
  const name = `${JSON.stringify(point)} ${point.at === 'call' ? whole.fate.calls[point.nth - 1]?.name : ''}`;
  try {
    const lived = await live(TEXTS[form], point);
    expect(lived.fate.deaths).toBe(point.failureRule === 'lost' ? 0 : 1);
    expect(endOf(lived)).toEqual(endFor(FORMS[form]));
    return [];
  } catch (thrown) {
    return [`${name}: ${(thrown as Error).message}`];
  }
}

test.for(Object.keys(FORMS) as (keyof typeof FORMS)[])(
  'the life of a runtime with a %s comes to the same end wherever the server dies or a reply is lost',
  { timeout: 240_000 },
  async (form) => {
    const whole = await live(TEXTS[form]);
    expect(endOf(whole)).toEqual(endFor(FORMS[form]));
    const points = [...pointsOf(whole.fate)].filter((_, at) => IS_LONG || at % FORMS[form].stride === 0);
    expect(points.length).toBeGreaterThan(5);
    const wrong: string[] = [];

    for (const point of points) wrong.push(...(await wrongAt(point, whole, form)));

    expect(wrong).toEqual([]);
  },
);
