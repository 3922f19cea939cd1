import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { KubeObject } from '#kube/object.ts';
import type { Pod } from './machine.ts';
import { openSlowStarts } from './slow-start.ts';

const signal = new AbortController().signal;

function anEvent(reason: string, message: string, at: string, type = 'Warning'): KubeObject {
  return { metadata: { name: reason }, type, reason, message, lastTimestamp: at };
}

function openWorld(events: () => readonly KubeObject[]) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const list = async (
    _resource: unknown,
    { namespace, fieldSelector }: { namespace?: string; fieldSelector?: string },
  ) => {
    asked.push(`${namespace} ${fieldSelector}`);
    return events();
  };
  const aPod = (uid: string, status: object = { phase: 'Pending' }): Pod => ({
    metadata: { name: uid, namespace: 'ml', uid, creationTimestamp: new Date(clock.now()).toISOString() },
    status,
  });
  return { clock, asked, aPod, slow: openSlowStarts({ kube: { list } as never, clock }) };
}

const MISSING = 'MountVolume.SetUp failed for volume "velda-config" : configmap "velda-config" not found';

describe('a pod that does not start', () => {
  it('is asked about after 30 seconds, and its events name the ConfigMap that is missing', async () => {
    const { clock, asked, aPod, slow } = openWorld(() => [
      anEvent('Pulled', 'image is there', '2026-01-01T00:00:09Z', 'Normal'),
      anEvent('FailedMount', 'old', '2026-01-01T00:00:01Z'),
      anEvent('FailedMount', MISSING, '2026-01-01T00:00:05Z'),
    ]);
    const pod = aPod('u-1');
    await slow.ask([pod], signal);
    const soon = [...asked];
    await clock.advance(30_000);

    await slow.ask([pod], signal);

    expect(soon).toEqual([]);
    expect(asked).toEqual(['ml involvedObject.uid=u-1']);
    expect(slow.of(pod)).toEqual({
      kind: 'invalid',
      message: `FailedMount: ${MISSING}. Create what the volume names, or correct the template.`,
      final: false,
    });
  });

  it('is asked about again every 30 seconds, and a few at a time', async () => {
    const { clock, asked, aPod, slow } = openWorld(() => []);
    const pods = Array.from({ length: 25 }, (_, at) => aPod(`u-${at}`));
    await slow.ask(pods, signal);
    await clock.advance(30_000);

    await slow.ask(pods, signal);
    await slow.ask(pods, signal);
    const first = asked.length;
    await clock.advance(30_000);
    await slow.ask(pods, signal);

    expect([first, asked.length]).toEqual([20, 30]);
  });

  it('is not asked about where the pod itself tells, or has started, or goes', async () => {
    const { clock, asked, aPod, slow } = openWorld(() => []);
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
    const pods = [
      aPod('running', { phase: 'Running' }),
      aPod('unschedulable', { phase: 'Pending', conditions }),
      { ...aPod('going'), metadata: { ...aPod('going').metadata, deletionTimestamp: 'now' } },
    ];
    await slow.ask(pods, signal);
    await clock.advance(60_000);

    await slow.ask(pods, signal);

    expect(asked).toEqual([]);
  });

  it('does not keep anyone from listing who may not read events', async () => {
    const { clock, aPod, slow } = openWorld(() => {
      throw new Fault('denied', 'cannot list events');
    });
    const pod = aPod('u-1');
    await slow.ask([pod], signal);
    await clock.advance(30_000);

    await slow.ask([pod], signal);

    expect(slow.of(pod)).toBeUndefined();
  });
});
