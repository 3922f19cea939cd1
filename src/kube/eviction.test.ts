import { describe, expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { json, openScripted, refusal } from './testing.ts';

const POD = { namespace: 'ml', name: 'p' };
const BUSY = { name: 'p', kind: 'pods' };
const TWO = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';

describe('an eviction', () => {
  it('asks for the pod of that uid alone, with its own grace', async () => {
    const { kube, script, requests } = openScripted();
    script.answering = () => json({ kind: 'Status', status: 'Success' }, 201);

    expect(await kube.evict(POD, { uid: 'u-1', gracePeriodSeconds: 30 }, going())).toBe('evicted');
    expect(requests).toMatchObject([
      {
        method: 'POST',
        path: '/api/v1/namespaces/ml/pods/p/eviction',
        body: {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: POD,
          deleteOptions: { preconditions: { uid: 'u-1' }, gracePeriodSeconds: 30 },
        },
      },
    ]);
  });

  it('of a pod that is not there says so', async () => {
    const { kube, script } = openScripted();
    script.answering = () => refusal(404, 'NotFound', 'pods "p" not found', BUSY);

    expect(await kube.evict(POD, {}, going())).toBe('gone');
  });

  it.each([
    [
      'a budget',
      refusal(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
        causes: [
          { reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 1 currently' },
        ],
      }),
      'The disruption budget web needs 1 healthy pods and has 1 currently',
    ],
    ['two budgets', refusal(500, '', TWO), TWO],
  ])('that %s forbids is refused in its words', async (_, response, refused) => {
    const { kube, script } = openScripted();
    script.answering = () => response.clone();

    expect(await kube.evict(POD, {}, going())).toEqual({ refused });
  });

  it.each([
    ['has too much to do', refusal(429, 'TooManyRequests', 'slow down'), 'throttled'],
    ['has another pod of that name', refusal(409, 'Conflict', 'the UID in the precondition differs', BUSY), 'stale'],
    ['lets nobody evict', refusal(403, 'Forbidden', 'pods "p" is forbidden: no', BUSY), 'denied'],
  ])('of an API server that %s is a fault', async (_, response, kind) => {
    const { kube, script } = openScripted();
    script.answering = () => response.clone();

    await expect(kube.evict(POD, {}, going())).rejects.toMatchObject({ kind });
  });
});
