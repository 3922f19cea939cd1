import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { SECOND_MS } from '#core/clock.ts';
import { isPolicy, readPolicy } from './policy.ts';
import { openNodesScene } from './testing/scene.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/kubernetes/examples/nodes');

interface Example {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly existingInstanceGroupNames?: readonly string[];
    readonly instanceGroups?: readonly { readonly name: string; readonly account?: string }[];
  };
}

const examples = readdirSync(FOLDER)
  .map((name) => parse(readFileSync(join(FOLDER, name), 'utf8')) as Example)
  .filter(({ kind }) => kind === 'NodeProvisioner');

it('the example NodeProvisioners are taken by the API server as they stand, and are served', async () => {
  const scene = await openNodesScene({
    settings: { accounts: [{ kind: 'memory', name: 'crusoe', config: {}, groups: ['*'] }] },
  });
  for (const { spec } of examples)
    for (const name of [
      ...(spec.existingInstanceGroupNames ?? []),
      ...(spec.instanceGroups ?? []).map((one) => one.name),
    ])
      scene.cloud.addGroup(name, 'zone-a');
  for (const example of examples)
    await scene.kubectl('POST', '/apis/compute.baseten.co/v1alpha1/nodeprovisioners', example);
  await scene.clock.advance(30 * SECOND_MS);

  expect(scene.nodes.list().map(({ name, isReady, message }) => [name, isReady ? 'ready' : message])).toEqual(
    examples.map(({ metadata }) => [metadata.name, 'ready']).toSorted(),
  );
  expect(examples.map(({ spec }) => isPolicy(readPolicy(spec)))).toEqual([true, true, true, true]);
  await scene.stop();
});
