import { expect, it } from 'vitest';
import type { Defragmentation } from '../api/wire/node.ts';
import { openScene } from './testing.ts';

const plan: Defragmentation = {
  ...{ name: 'h100', mode: 'plan', message: 'The mode is plan: nothing is moved.', evictions: 2, saved_per_hour: 24.5 },
  nodes: [
    {
      ...{ name: 'n1', group: 'grp', gpus: 8, gpus_requested: 2, price_per_hour: 24.5, when: 'this hour' },
      moves: [
        { pod: 'ml/a', to: 'n2', gpus: 1 },
        { pod: 'ml/b', to: 'n3', gpus: 1 },
      ],
    },
  ],
  kept: [{ node: 'n2', why: 'ml/c is not moved: it is of a Job, which would begin anew' }],
};

it('shows where each pod would go, what that saves, and why other nodes stay', async () => {
  const { muster, output } = openScene(() => plan);
  await muster('node', 'plan', 'h100', '--defrag');

  expect(output()).toBe(`h100: 1 node can be emptied by 2 evictions, $24.50/h less. The mode is plan: nothing is moved.
node n1 of grp: 2 of 8 GPUs, this hour
  ml/a (1 GPU) → n2
  ml/b (1 GPU) → n3
not n2: ml/c is not moved: it is of a Job, which would begin anew
`);
});
