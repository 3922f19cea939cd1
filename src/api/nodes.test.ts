import { describe, expect, it } from 'vitest';
import type { Role } from '#core/access.ts';
import { Fault } from '#core/fault.ts';
import type { AskedNodes, NodeGroupRow } from '#core/node.ts';

import { nodesOfOne } from './testing/nodes.ts';
import { row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';

const asked = (id: string, at: number, neededSince?: number): AskedNodes => ({
  ...{ id, count: 1, to: 1, at, neededSince, isAnswered: false },
});
const rowWith = (...all: readonly AskedNodes[]): NodeGroupRow => ({
  ...{ id: 'g', name: 'grp', provisioner: 'h100', asked: all },
});

describe('the metrics of nodes', () => {
  it('show each NodeProvisioner as it stands', async () => {
    const { call, deps } = await apiWorld();
    deps.metrics.followFeatures({ nodes: nodesOfOne });

    const { body } = await call('GET', '/metrics');

    expect(body).toContain('muster_node_provisioner_nodes{provisioner="h100"} 1');
    expect(body).toContain('muster_node_provisioner_ready{provisioner="h100"} 1');
    expect(body).toContain('muster_node_provisioner_capacity_available{provisioner="h100"} 1');
  });

  it('count how long the first pod waited until its node was asked for, once for each request', async () => {
    const { call, deps } = await apiWorld();
    const { store } = deps;
    await store.commit([row('nodeGroups', rowWith(asked('a', 1_700, 1_000)))]);
    await store.commit([
      row('nodeGroups', rowWith({ ...asked('a', 1_700, 1_000), isAnswered: true }, asked('b', 9_000))),
    ]);

    const { body } = await call('GET', '/metrics');

    const series = 'muster_node_provisioner_growth_seconds';
    expect(body).toContain(`${series}_bucket{le="0.5",provisioner="h100"} 0`);
    expect(body).toContain(`${series}_bucket{le="1",provisioner="h100"} 1`);
    expect(body).toContain(`${series}_count{provisioner="h100"} 1`);
  });
});

describe('listing NodeProvisioners', () => {
  it('says why none can be read rather than that there are none', async () => {
    const fault = new Fault('missing', 'The API server has no resource nodeprovisioners.compute.baseten.co.');
    const nodes = { ...nodesOfOne, list: () => [], fault: () => fault };
    const { call } = await apiWorld({ over: { features: { nodes } } });

    expect((await call('GET', '/api/v1/node-provisioners')).json()).toMatchObject({
      status: 404,
      detail: fault.message,
    });
  });

  it('shows those that were seen while the cluster does not answer', async () => {
    const nodes = { ...nodesOfOne, fault: () => new Fault('unavailable', 'The API server fell silent.') };
    const { call } = await apiWorld({ over: { features: { nodes } } });

    expect((await call('GET', '/api/v1/node-provisioners')).json()).toMatchObject({ items: [{ name: 'h100' }] });
  });
});

describe('thawing a NodeProvisioner', () => {
  it('is for operators alone', async () => {
    const asked: string[] = [];
    const thaw = async (name: string): Promise<void> => void asked.push(name);
    const { call } = await apiWorld({ over: { features: { nodes: { ...nodesOfOne, thaw } } } });
    const statusFor = async (as: Role) =>
      (await call('POST', '/api/v1/node-provisioners/h100/thaw', { as })).statusCode;

    expect([await statusFor('viewer'), await statusFor('operator')]).toEqual([403, 200]);
    expect(asked).toEqual(['h100']);
  });
});
