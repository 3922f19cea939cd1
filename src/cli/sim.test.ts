import { expect, test } from 'vitest';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Local, SimCommandOptions } from './command.ts';
import { openScene } from './testing.ts';

const unused = (): never => {
  throw new Fault('internal', 'Nothing else is asked.');
};

function openSim() {
  const asked: SimCommandOptions[] = [];
  const local: Local = {
    server: unused,
    agent: unused,
    checkConfig: unused,
    configSchema: unused,
    forecast: unused,
    restore: unused,
    kube: { crd: unused, rbac: unused, install: unused, release: unused },
    images: { host: 'here', kinds: unused, build: unused, list: unused, drop: unused },
    simulations: [
      { id: 'aws', summary: 'EC2' },
      { id: 'moon', summary: 'Craters' },
    ],
    async simCloud(options) {
      asked.push(options);
      options.started({
        address: 'http://127.0.0.1:4566',
        folder: '/tmp/machines',
        environment: { AWS_ENDPOINT_URL: 'http://127.0.0.1:4566', AWS_REGION: 'us-west-2' },
        tries: ['npx muster pool ls'],
      });
    },
  };
  return { ...openScene(unused, { local }), simulated: asked };
}

test('tells where it answers, what to set and what to try', async () => {
  const scene = openSim();

  const code = await scene.muster('sim', 'cloud', 'aws', '--port', '4566', '--kubeconfig', '/tmp/kubeconfig');

  expect(code).toBe(0);
  expect(scene.simulated).toMatchObject([{ cloud: 'aws', port: 4_566, kubeconfig: '/tmp/kubeconfig' }]);
  const lines = scene.output().split('\n');
  expect(lines).toContain('  export AWS_ENDPOINT_URL=http://127.0.0.1:4566');
  expect(lines).toContain('  export AWS_REGION=us-west-2');
  expect(lines).toContain('  npx muster pool ls');
});

test.each([
  ['an unknown cloud', ['mars'], 'mars'],
  ['an unknown port', ['aws', '--port', '70000'], '--port 70000'],
])('%s is refused', async (_what, words, named) => {
  const scene = openSim();

  const code = await scene.muster('sim', 'cloud', ...words);

  expect(code).toBe(FAULTS.invalid.exit);
  expect(scene.errors()).toContain(named);
  expect(scene.simulated).toEqual([]);
});
