import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readAgentConfig } from '#config/agent-file.ts';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { readPool } from '#config/pool-document.ts';
import { going } from '#core/testing/going.ts';
import provider from '../index.ts';
import { installCrd, openAgentPoolsAt, openKubeScene } from '../testing.ts';

const FOLDER = join(import.meta.dirname, '../../../../deploy/kubernetes/examples');
const read = (name: string) => parse(readFileSync(join(FOLDER, name), 'utf8'));
const POOLS = ['cpu-pool', 'gpu-pool', 'shell'];

describe('the example AgentPools', () => {
  it('become pools as they stand, with the defaults of the AgentPool', async () => {
    const scene = openKubeScene();
    await installCrd(scene);
    for (const name of POOLS) {
      await scene.kubectl('POST', '/apis/velda.io/v1/namespaces/default/agentpools', read(`${name}.yaml`));
    }
    const source = await openAgentPoolsAt(scene);

    const documents = await scene.during(source.documents(new Map(), going()));

    const { backends } = knownKinds([provider]);
    const specs = documents.map(({ text = '' }) => readPool(text, { kinds: backends, trust: 'operator' }));
    expect(documents.map(({ fault }) => fault)).toEqual([undefined, undefined, undefined]);
    expect(specs.flatMap(({ problems = [] }) => problems)).toEqual([]);
    expect(specs.map(({ spec }) => spec?.name).toSorted()).toEqual(POOLS);
    const shell = specs.find(({ spec }) => spec?.name === 'shell')?.spec;
    expect(shell).toMatchObject({
      scaling: { minAgents: 0, maxAgents: 4, idleDecayMs: 60_000, killUnknownAfterMs: 300_000 },
    });
  });

  it('mount an agent file that the agent takes, and name the pool of their object', () => {
    const { data } = read('velda-config.yaml') as { data: Record<string, string> };

    const file = readAgentConfig(data['velda.yaml'] ?? '', readEnvironment({}));

    expect(file.problems).toBeUndefined();
    expect(file.value?.broker).toMatchObject({ address: 'velda-apiserver.default.svc.cluster.local:50051' });
    for (const name of POOLS) {
      const { metadata, spec } = read(`${name}.yaml`);
      expect(spec.template.spec.containers[0].args).toEqual([`--pool=${metadata.name}`]);
    }
  });
});
