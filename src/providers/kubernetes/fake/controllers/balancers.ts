// Load balancers of the cloud: each Service of that type gets an address after a while, and keeps it until that is given back.
import { fieldsOf, type KubeObject, listOf } from '../objects/object.ts';
import type { World } from '../world.ts';
import { store as settle } from '../writes/replace.ts';

const SERVICES = '/services';
// k8s.io/cloud-provider/service/helpers: set before the cloud is asked, removed when it has nothing left.
const CLEANUP = 'service.kubernetes.io/load-balancer-cleanup';
const PER_BLOCK = 250;

const isBalanced = ({ spec }: KubeObject): boolean => spec?.type === 'LoadBalancer';
const hasAddress = ({ status }: KubeObject): boolean => listOf(fieldsOf(status?.loadBalancer).ingress).length > 0;

export function runBalancers(world: World): void {
  const { store, clock, behaviour, registry } = world;
  const asked = new Set<string>();
  let count = 0;

  const current = ({ metadata: { namespace, name, uid } }: KubeObject): KubeObject | undefined => {
    const found = store.get(SERVICES, namespace, name);
    return found?.metadata.uid === uid ? found : undefined;
  };

  function give(service: KubeObject): void {
    const found = current(service);
    if (!found || found.metadata.deletionTimestamp !== undefined || hasAddress(found)) return;
    count += 1;
    const ip = `203.0.${Math.floor(count / PER_BLOCK)}.${(count % PER_BLOCK) + 1}`;
    const { finalizers = [] } = found.metadata;
    const metadata = { ...found.metadata, finalizers: [...finalizers, CLEANUP] };
    store.replace(SERVICES, { ...found, metadata, status: { loadBalancer: { ingress: [{ ip }] } } });
  }

  function takeBack(service: KubeObject): void {
    const found = current(service);
    const resource = registry.byStorage('', 'services');
    if (!found || !resource) return;
    const finalizers = (found.metadata.finalizers ?? []).filter((one) => one !== CLEANUP);
    settle(world, resource, { ...found, metadata: { ...found.metadata, finalizers } });
  }

  function once(service: KubeObject, what: string, run: (service: KubeObject) => void): void {
    const key = `${service.metadata.uid} ${what}`;
    if (asked.has(key)) return;
    asked.add(key);
    clock.alarm(behaviour.balancerMs, () => {
      asked.delete(key);
      run(service);
    });
  }

  store.watch(({ storage, type, object }) => {
    if (storage !== SERVICES || type === 'DELETED' || !isBalanced(object)) return;
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp === undefined && !hasAddress(object)) once(object, 'give', give);
    if (deletionTimestamp !== undefined && finalizers.includes(CLEANUP)) once(object, 'take back', takeBack);
  });
}
