import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { kind, type Provider } from '#core/provider.ts';
import type { RenderedRuntime, RuntimeHost, RuntimeRequest, RuntimeState } from '#core/runtime-host.ts';
import { resourcesOf } from '#core/slot-size.ts';

export interface MemoryRuntime {
  request: RuntimeRequest;
  digest: string;
  state: RuntimeState;
  why?: string | undefined;
  trouble?: string | undefined;
}

/** A host of runtimes in memory, and what a test may do to it. */
export interface MemoryRuntimes {
  readonly objects: Map<string, MemoryRuntime>;
  /** Every call as `apply a`, in order. */
  readonly calls: string[];
  /** What the next runtimes that are applied look like; absent: ready at once. */
  next?: { readonly state: RuntimeState; readonly why?: string; readonly trouble?: string };
  /** Thrown by every call while it is set. */
  fault?: Fault | undefined;
  /** Thrown by `apply`, or what it waits for. */
  applying?: Fault | Promise<void> | undefined;
  /** What `observe` waits for before it answers what it saw. */
  observing?: Promise<void> | undefined;
  /** What `release` waits for before it removes anything. */
  releasing?: Promise<void> | undefined;
  /** What is left of a runtime after its release; absent: nothing. */
  afterRelease?: { readonly state: RuntimeState; readonly why?: string } | undefined;
  /** Where its runtimes are made. */
  cloud: string;
  /** Part of every digest: another text is another template. */
  template: string;
  /** Whether annotations, environment and disk are part of it too. */
  usesAnnotations: boolean;
  open(): RuntimeHost;
}

const SIZE = { cpu: 1, memoryGb: 4, storageGb: 40 };

export function openMemoryRuntimes(): MemoryRuntimes {
  const objects = new Map<string, MemoryRuntime>();
  const calls: string[] = [];

  function rendered(request: RuntimeRequest): RenderedRuntime {
    const { id, slots, version, annotations, environment, diskGb } = request;
    if (version === 'broken' || memory.template === 'broken')
      throw new Fault('invalid', 'statefulset.yaml:3:7: the template does not render.');
    const host = `http://${id}.test`;
    const grant = { host, audience: host, ...resourcesOf(slots, SIZE, diskGb) };
    const manifests = [
      { template: 'statefulset', kind: 'StatefulSet', name: `runtime-${id}`, text: `slots: ${slots}` },
    ];
    const isPlain = environment === 'prod' && diskGb === undefined && Object.keys(annotations).length === 0;
    const more = isPlain || !memory.usesAnnotations ? '' : ` ${JSON.stringify([annotations, environment, diskGb])}`;
    return { digest: `${memory.template} ${slots} ${version}${more}`, templates: memory.template, grant, manifests };
  }

  function called(what: string, id = ''): void {
    calls.push(`${what} ${id}`.trim());
    if (memory.fault) throw memory.fault;
  }

  const memory: MemoryRuntimes = {
    objects,
    calls,
    template: 'one',
    usesAnnotations: true,
    cloud: 'memory',
    open: () => ({
      cloud: memory.cloud,
      readyWithinMs: 30_000,
      render: async (request) => rendered(request),
      async apply(request) {
        called('apply', request.id);
        if (memory.applying instanceof Fault) throw memory.applying;
        await memory.applying;
        const { digest, grant } = rendered(request);
        objects.set(request.id, { request, digest, ...(memory.next ?? { state: 'ready' }) });
        return { digest, grant };
      },
      async observe({ id }) {
        called('observe', id);
        const found = objects.get(id);
        await memory.observing;
        if (!found) return { state: 'absent' };
        const { state, why, trouble, digest } = found;
        return { state, why, trouble, digest };
      },
      async release(id) {
        called('release', id);
        await memory.releasing;
        const found = objects.get(id);
        if (memory.afterRelease && found) objects.set(id, { ...found, why: undefined, ...memory.afterRelease });
        else objects.delete(id);
      },
      async hibernate(id) {
        called('hibernate', id);
        const found = objects.get(id);
        if (found) found.state = 'hibernated';
      },
      async list() {
        called('list');
        return [...objects.keys()];
      },
    }),
  };
  return memory;
}

export const memoryProvider = (memory: MemoryRuntimes): Provider => ({
  id: 'memory',
  title: 'Runtimes in memory',
  runtimes: {
    memory_runtime: kind({
      summary: 'Runtimes in memory.',
      config: z.object({ at: z.number().optional() }),
      example: {},
      trust: 'any source',
      open: async () => memory.open(),
    }),
  },
});
