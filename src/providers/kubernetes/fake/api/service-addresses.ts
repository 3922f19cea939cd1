// The addresses that the API server itself gives to a Service: one in the cluster, and the ports of its nodes.
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';

const FIRST_NODE_PORT = 30_000;
const NODE_PORTS = 2_768;

/** The same Service gets the same, without a look at the others; two may share one, which nobody here minds. */
function numberOf({ metadata: { namespace, name } }: KubeObject, port: unknown): number {
  let hash = 5381;
  for (const letter of `${namespace}/${name}:${String(port)}`) hash = (hash * 33 + letter.charCodeAt(0)) >>> 0;
  return hash;
}

export function prepareService(draft: KubeObject, old: KubeObject | undefined): KubeObject {
  const spec = fieldsOf(draft.spec);
  const type = textOf(spec.type) || 'ClusterIP';
  if (type === 'ExternalName') return draft;
  const before = fieldsOf(old?.spec);
  const number = numberOf(draft, '');
  const clusterIP = spec.clusterIP ?? before.clusterIP ?? `10.96.${(number >>> 8) % 256}.${number % 256}`;
  const portOf = (port: Fields): Fields => {
    const known = listOf(before.ports)
      .map(fieldsOf)
      .find((one) => one.port === port.port);
    const nodePort = port.nodePort ?? known?.nodePort ?? FIRST_NODE_PORT + (numberOf(draft, port.port) % NODE_PORTS);
    return { ...port, protocol: port.protocol ?? 'TCP', targetPort: port.targetPort ?? port.port, nodePort };
  };
  const inside = (port: Fields): Fields => {
    const { nodePort: _nodePort, ...rest } = portOf(port);
    return rest;
  };
  const ports = listOf(spec.ports)
    .map(fieldsOf)
    .map(type === 'ClusterIP' ? inside : portOf);
  return { ...draft, spec: { ...spec, type, clusterIP, ...(spec.ports !== undefined && { ports }) } };
}
