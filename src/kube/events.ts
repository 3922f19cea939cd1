// Events as `kubectl describe` shows them. Equal ones are counted in one Event, not written anew.
import { createHash } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import type { Kube } from './client.ts';
import { isAlreadyThere, isObjectMissing } from './faults.ts';
import type { KubeObject } from './object.ts';
import { apiVersionOf, EVENTS, type KubeResource } from './resource.ts';

export interface KubeEvent {
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase: `ScaledUp`. */
  readonly reason: string;
  readonly message: string;
}

export interface EventWriter {
  /** Writes an event about an object; one like it is counted up. */
  write(resource: KubeResource, about: KubeObject, event: KubeEvent, signal: AbortSignal): Promise<void>;
}

const COMPONENT = 'muster';
// The API server takes no more.
const LONGEST_MESSAGE = 1_024;
const LONGEST_NAME = 253;

/** Equal events about one object have one name, so a second replica increments the count of the first one's Event. */
function eventName({ metadata }: KubeObject, { type, reason, message }: KubeEvent): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([metadata.uid, type, reason, message]))
    .digest('hex')
    .slice(0, 16);
  return `${metadata.name.slice(0, LONGEST_NAME - hash.length - 1)}.${hash}`;
}

export function openEventWriter(kube: Pick<Kube, 'get' | 'create' | 'patch'>, clock: Clock): EventWriter {
  // Events have whole seconds.
  const stamp = (): string => `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;

  function draft(resource: KubeResource, about: KubeObject, event: KubeEvent): KubeObject {
    const { name, namespace, uid, resourceVersion } = about.metadata;
    const at = stamp();
    return {
      // Objects without a namespace have their events in `default`.
      metadata: { name: eventName(about, event), namespace: namespace ?? 'default' },
      involvedObject: {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        name,
        namespace,
        uid,
        resourceVersion,
      },
      type: event.type,
      reason: event.reason,
      message: event.message.slice(0, LONGEST_MESSAGE),
      source: { component: COMPONENT },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    };
  }

  /** False where the Event has expired meanwhile: the API server keeps them for an hour. */
  async function countUp({ metadata }: KubeObject, signal: AbortSignal): Promise<boolean> {
    const there = await kube.get(EVENTS, metadata, signal);
    if (there === undefined) return false;
    const count = (typeof there.count === 'number' ? there.count : 1) + 1;
    try {
      await kube.patch(EVENTS, metadata, { merge: { count, lastTimestamp: stamp() } }, signal);
      return true;
    } catch (thrown) {
      if (isObjectMissing(thrown)) return false;
      throw thrown;
    }
  }

  return {
    async write(resource, about, event, signal) {
      const drafted = draft(resource, about, event);
      for (let round = 1; ; round++) {
        try {
          await kube.create(EVENTS, drafted, signal);
          return;
        } catch (thrown) {
          if (!isAlreadyThere(thrown) || round === 3) throw thrown;
        }
        if (await countUp(drafted, signal)) return;
      }
    },
  };
}
