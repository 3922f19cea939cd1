import { Fault } from '#core/fault.ts';
import type { GkeConfig } from './config.ts';

/** As much of a cluster as the Container API tells and is needed here. */
export interface GkeCluster {
  readonly name: string;
  /** Its region or zone. */
  readonly location: string;
  readonly status?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly masterAuth?: { readonly clusterCaCertificate?: string | undefined } | undefined;
  readonly privateClusterConfig?:
    | { readonly privateEndpoint?: string | undefined; readonly publicEndpoint?: string | undefined }
    | undefined;
  readonly controlPlaneEndpointsConfig?:
    | {
        readonly dnsEndpointConfig?: { readonly endpoint?: string | undefined } | undefined;
        readonly ipEndpointsConfig?:
          | {
              readonly enabled?: boolean | undefined;
              readonly publicEndpoint?: string | undefined;
              readonly privateEndpoint?: string | undefined;
            }
          | undefined;
      }
    | undefined;
}

export interface Address {
  readonly server: string;
  /** As PEM; absent for the DNS name, whose certificate every system trusts. */
  readonly ca?: string | undefined;
}

type Choice = NonNullable<GkeConfig['endpoint']>;

function hostsOf(cluster: GkeCluster): Readonly<Record<Choice, string | undefined>> {
  const { endpoint, privateClusterConfig: older, controlPlaneEndpointsConfig: newer } = cluster;
  const ip = newer?.ipEndpointsConfig;
  const isWithIp = ip?.enabled !== false;
  const privateHost = ip?.privateEndpoint || older?.privateEndpoint;
  // Where the control plane has no public address, `endpoint` is its private one.
  const publicHost = ip?.publicEndpoint || older?.publicEndpoint || (endpoint === privateHost ? undefined : endpoint);
  return {
    public: isWithIp ? publicHost || undefined : undefined,
    private: isWithIp ? privateHost || undefined : undefined,
    dns: newer?.dnsEndpointConfig?.endpoint || undefined,
  };
}

/** Where to ask that cluster; throws where it has no such address. */
export function addressOf(cluster: GkeCluster, choice: Choice | undefined): Address {
  const hosts = hostsOf(cluster);
  const chosen = choice ?? (['public', 'private', 'dns'] as const).find((each) => hosts[each] !== undefined);
  const host = chosen && hosts[chosen];
  if (chosen && host) {
    const ca = cluster.masterAuth?.clusterCaCertificate;
    const isOwnCa = chosen !== 'dns' && ca;
    return { server: `https://${host}`, ca: isOwnCa ? Buffer.from(ca, 'base64').toString('utf8') : undefined };
  }
  const { name, location, status } = cluster;
  if (status === 'PROVISIONING')
    throw new Fault('unavailable', `The cluster ${name} in ${location} is being created and has no address yet.`);
  const has = Object.entries(hosts).flatMap(([each, known]) => (known ? [each] : []));
  throw new Fault('invalid', `The cluster ${name} in ${location} has no ${chosen ?? 'known'} address.`, {
    remedy:
      has.length > 0 ? `Set endpoint to ${has.join(' or ')}.` : `Look at the cluster: it is ${status ?? 'empty'}.`,
  });
}
