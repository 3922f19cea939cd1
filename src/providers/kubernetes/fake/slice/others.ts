// What others do in the cluster: kubectl, its users, other programs. Not among the recorded calls, and no failure rule applies to it.
import { Fault } from '#core/fault.ts';
import { answerObjects } from '../answer.ts';
import type { FakeKubernetes } from '../fake-kubernetes.ts';
import type { KubeObject } from '../objects/object.ts';
import type { KubeCall, Target } from '../wire/read-call.ts';

/** One object of a resource: `pods`, `agentpools.velda.io`. */
export interface Named {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface Others {
  create(resource: string, object: object): void;
  /** A JSON merge patch. */
  patch(at: Named, body: object): void;
  /** As `kubectl delete` does it; refused or absent is an error. */
  remove(at: Named, options?: object): void;
  get(at: Named): KubeObject | undefined;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = { patch: 'application/merge-patch+json' };

export function othersIn(fake: FakeKubernetes): Others {
  const { world, users } = fake;

  function ask(verb: string, { resource: wanted, namespace, name }: Partial<Named>, body: object): void {
    const [plural = '', ...group] = (wanted ?? '').split('.');
    const resource = world.registry.byStorage(group.join('.'), plural);
    if (!resource) throw new Fault('invalid', `The cluster has no ${wanted}.`);
    const { version } = resource;
    const target: Target = { group: resource.group, version, plural, namespace, name, subresource: undefined };
    const call: KubeCall = {
      service: plural,
      action: `${verb} ${plural}`,
      region: '',
      verb,
      path: '',
      target,
      query: new URLSearchParams(),
      headers: new Headers({ 'user-agent': 'kubectl/v1', 'content-type': CONTENT_TYPES[verb] ?? 'application/json' }),
      body: JSON.stringify(body),
    };
    answerObjects({ world, users, call, resource, signal: new AbortController().signal });
  }

  return {
    create(resource, object) {
      const { namespace } = (object as { metadata: { namespace?: string } }).metadata;
      ask('create', { resource, namespace }, object);
    },
    patch: (at, body) => ask('patch', at, body),
    remove: (at, options = {}) => ask('delete', at, options),
    get: ({ resource, namespace, name }) => fake.object(resource, namespace, name),
  };
}
