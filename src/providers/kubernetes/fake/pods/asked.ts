// What a pod asks of its node: resources and ports.
import { quantityOf } from '#kube/quantity.ts';
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';

/** By name of the resource. */
export type Amounts = Readonly<Record<string, number>>;

export const amountsOf = (written: unknown): Amounts =>
  Object.fromEntries(Object.entries(fieldsOf(written)).map(([name, text]) => [name, quantityOf(text) ?? 0]));

function joined(some: Amounts, others: Amounts, join: (a: number, b: number) => number): Amounts {
  const names = new Set([...Object.keys(some), ...Object.keys(others)]);
  return Object.fromEntries([...names].map((name) => [name, join(some[name] ?? 0, others[name] ?? 0)]));
}

const sum = (a: number, b: number): number => a + b;

const requested = (container: Fields): Amounts => amountsOf(fieldsOf(container.resources).requests);

const isSidecar = ({ restartPolicy }: Fields): boolean => restartPolicy === 'Always';

/** The larger of what runs in the end and what any step of the start takes; `overhead` comes on top. */
export function requestsOf({ spec }: KubeObject): Amounts {
  const containers = listOf(spec?.containers).map(fieldsOf);
  const steps = listOf(spec?.initContainers).map(fieldsOf);
  const sidecars = steps.filter(isSidecar);
  let most = [...containers, ...sidecars].map(requested).reduce((all, one) => joined(all, one, sum), {});
  for (const [at, step] of steps.entries()) {
    const beside = steps.slice(0, at).filter(isSidecar);
    const whole = [...beside, step].map(requested).reduce((all, one) => joined(all, one, sum), {});
    most = joined(most, whole, Math.max);
  }
  return { ...joined(most, amountsOf(spec?.overhead), sum), pods: 1 };
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const ANY_ADDRESS = '0.0.0.0';

export const hostPortsOf = ({ spec }: KubeObject): readonly HostPort[] =>
  [...listOf(spec?.containers), ...listOf(spec?.initContainers).filter((one) => isSidecar(fieldsOf(one)))]
    .flatMap((container) => listOf(fieldsOf(container).ports).map(fieldsOf))
    .filter(({ hostPort }) => Number(hostPort) > 0)
    .map(({ hostPort, hostIP, protocol }) => ({
      ip: textOf(hostIP) || ANY_ADDRESS,
      protocol: textOf(protocol) || 'TCP',
      port: Number(hostPort),
    }));

export const isSamePort = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || [a.ip, b.ip].includes(ANY_ADDRESS));
