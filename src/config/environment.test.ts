import { describe, expect, it } from 'vitest';
import { readEnvironment } from './environment.ts';

describe('readEnvironment', () => {
  it('knows its variables by name and takes empty ones as unset', () => {
    const environment = readEnvironment({ MUSTER_CONFIG: '/m.yaml', MUSTER_TOKEN: '', AGENT_NAME: 'w-1', OTHER: 'x' });

    expect(environment).toMatchObject({ config: '/m.yaml', token: undefined, agentName: 'w-1', noColor: undefined });
    expect([environment.variable('OTHER'), environment.variable('MUSTER_TOKEN'), environment.variable('NONE')]).toEqual(
      ['x', '', undefined],
    );
    expect(environment.all()).toEqual({ MUSTER_CONFIG: '/m.yaml', MUSTER_TOKEN: '', AGENT_NAME: 'w-1', OTHER: 'x' });
  });
});
