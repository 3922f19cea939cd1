// What tests of machines as Deployments share: what the simulated cluster holds of them, and where its Services lead.
import type { MachineEndpoint } from '#core/provider.ts';
import type { FakeKubernetes } from '../fake/fake-kubernetes.ts';
import { fieldsOf, type KubeObject, listOf, textOf } from '../fake/objects/object.ts';
import { conditionOf } from '../fake/pods/status.ts';
import { MACHINE_LABEL } from './objects.ts';

const RESOURCES = ['deployments.apps', 'pods', 'services', 'secrets'];

const machineOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[MACHINE_LABEL];

/** Every object of a machine, as `secrets m-1`; what is on its way out counts as long as it is there. */
export const objectsOf = (fake: FakeKubernetes): string[] =>
  RESOURCES.flatMap((resource) =>
    fake
      .objects(resource)
      .filter((object) => machineOf(object) !== undefined)
      .map((object) => `${resource} ${machineOf(object)}`),
  ).toSorted();

/** The machines that anything is there of. */
export const machinesIn = (fake: FakeKubernetes): string[] => [
  ...new Set(objectsOf(fake).map((object) => object.split(' ')[1] ?? '')),
];

/** The pods that a Service sends a connection to. */
const selectedBy = (fake: FakeKubernetes, { spec, metadata }: KubeObject): readonly KubeObject[] => {
  const wanted = Object.entries(fieldsOf(spec?.selector));
  return fake
    .objects('pods', metadata.namespace)
    .filter(({ metadata: { labels = {} } }) => wanted.every(([key, value]) => labels[key] === value))
    .filter((pod) => conditionOf(pod, 'Ready')?.status === 'True');
};

/** The machine and its port that a connection to that place reaches. */
export function reached(
  fake: FakeKubernetes,
  { host, port }: MachineEndpoint,
): { readonly name: string; readonly port: number } | undefined {
  for (const service of fake.objects('services')) {
    const balanced = listOf(fieldsOf(service.status?.loadBalancer).ingress).map((one) => textOf(fieldsOf(one).ip));
    if (![...balanced, service.spec?.clusterIP].includes(host)) continue;
    const leads = listOf(service.spec?.ports)
      .map(fieldsOf)
      .find((one) => one.port === port);
    const pods = leads ? selectedBy(fake, service) : [];
    const [pod] = pods;
    if (pods.length !== 1 || !pod || !leads) continue;
    return { name: machineOf(pod) ?? '', port: Number(leads.targetPort) };
  }
  return undefined;
}
