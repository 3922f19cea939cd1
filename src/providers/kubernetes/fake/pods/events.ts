import { HOUR_MS } from '#core/clock.ts';
import { compact, type KubeObject, timestamp } from '../objects/object.ts';
import { newUid } from '../objects/uid.ts';
import type { World } from '../world.ts';

export interface EventText {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly component: string;
}

const STORAGE = '/events';

/** Records events about objects; the same one again is counted. They are kept for an hour. */
export function openRecorder({ store, clock, random }: World): (about: KubeObject, text: EventText) => void {
  const known = new Map<string, { readonly namespace: string; readonly name: string; readonly atMs: number }>();

  function forgetOld(nowMs: number): void {
    for (const [key, { namespace, name, atMs }] of known) {
      if (nowMs - atMs < HOUR_MS) return;
      known.delete(key);
      const event = store.get(STORAGE, namespace, name);
      if (event) store.remove(STORAGE, event);
    }
  }

  return (about, { type, reason, message, component }) => {
    const nowMs = clock.now();
    forgetOld(nowMs);
    const { name, namespace = 'default', uid, resourceVersion } = about.metadata;
    const key = `${uid} ${reason} ${message}`;
    const time = timestamp(nowMs);
    const last = known.get(key);
    const before = last && store.get(STORAGE, namespace, last.name);
    if (before) {
      store.replace(STORAGE, { ...before, lastTimestamp: time, count: Number(before.count ?? 1) + 1 });
      return;
    }
    const eventName = `${name}.${Buffer.from(random.bytes(8)).toString('hex')}`;
    known.set(key, { namespace, name: eventName, atMs: nowMs });
    store.add(STORAGE, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: eventName, namespace, uid: newUid(random), resourceVersion: '', creationTimestamp: time },
      involvedObject: compact({
        kind: about.kind,
        namespace: about.metadata.namespace,
        name,
        uid,
        apiVersion: about.apiVersion,
        resourceVersion,
      }),
      reason,
      message,
      source: { component },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type,
      eventTime: null,
      reportingComponent: component,
      reportingInstance: '',
    });
  };
}
