import { expect, it } from 'vitest';
import { placeOn } from './platforms.ts';

const CONTEXT = { variable: () => undefined, agentImage: 'muster/agent:0.1.0' };
const GIVEN = { region: 'eu-west-1', subnets: 'subnet-1, subnet-2', image: 'host.example/agent' };
const placed = (options: object) => placeOn('aws_ecs', options as Readonly<Record<string, unknown>>, CONTEXT);

it('a computer on ECS is a backend aws_ecs with the subnets, the image in its version and the name of the container', () => {
  expect(placed({ ...GIVEN, version: '1.2.0', securityGroups: 'sg-1', containerName: 'box' })).toEqual({
    port: 8_000,
    maxRetries: 3,
    timeout: 300,
    needsAdmin: false,
    backend: {
      aws_ecs: {
        region: 'eu-west-1',
        subnets: ['subnet-1', 'subnet-2'],
        image: 'host.example/agent:1.2.0',
        cluster_name: 'default',
        container_name: 'box',
        security_groups: ['sg-1'],
      },
    },
  });
});

it.each([
  ['region', { region: undefined }, 'Give region, or set AWS_REGION.'],
  ['subnets', { subnets: undefined }, expect.stringContaining('Give subnets')],
  ['image', { image: undefined }, expect.stringContaining('muster image build docker --push HOST/NAME')],
])('without %s a computer on ECS is refused with the option and the remedy', (option, without, remedy) => {
  expect(() => placed(Object.fromEntries(Object.entries({ ...GIVEN, ...without }).filter(([, one]) => one)))).toThrow(
    expect.objectContaining({ kind: 'invalid', at: `options.${option}`, remedy }),
  );
});
