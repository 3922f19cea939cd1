// What an operator may choose when Muster is installed in a cluster. The names are those of Velda's manifests.
import { Fault } from '#core/fault.ts';
import type { Right } from '#kube/rights.ts';

/** What sizing nodes needs in a cluster; the composition hands it in, since a provider knows no feature. */
export interface NodesInstall {
  /** The CustomResourceDefinition of NodeProvisioners. */
  readonly definition: object;
  readonly rights: readonly Right[];
}

export interface InstallChoices {
  /** Where the server runs. */
  readonly namespace: string;
  /** The namespaces whose AgentPools are served; none: all of the cluster. */
  readonly served: readonly string[];
  /** Whether it may make the Deployments, Services and Secrets of computers there. */
  readonly computers: boolean;
  /** Absent: it may do nothing with nodes. */
  readonly nodes?: NodesInstall | undefined;
  readonly image: string;
  /** The Secret whose key `url` is a PostgreSQL address; absent: SQLite on a volume. */
  readonly postgresSecret?: string | undefined;
  /** More than one needs PostgreSQL. */
  readonly replicas: number;
  /** Of the volume of SQLite. */
  readonly storage: string;
}

/** ServiceAccount, Service, Deployment and all else of the server. */
export const SERVER_NAME = 'velda-apiserver';

export const DEFAULT_CHOICES: InstallChoices = {
  namespace: 'velda',
  served: [],
  computers: false,
  image: 'muster/server:0.1.0',
  replicas: 1,
  storage: '10Gi',
};

/** What was chosen; what is absent or undefined is as in `DEFAULT_CHOICES`. */
export type GivenChoices = { readonly [key in keyof InstallChoices]?: InstallChoices[key] | undefined };

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** All choices, or a fault that names the first one that cannot be. */
export function checkChoices(given: GivenChoices): InstallChoices {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  const choices: InstallChoices = { ...DEFAULT_CHOICES, ...Object.fromEntries(set) };
  for (const namespace of [choices.namespace, ...choices.served]) {
    if (NAMESPACE.test(namespace)) continue;
    throw new Fault('invalid', `"${namespace}" is not a namespace.`, {
      remedy: 'Use lower-case letters, digits and "-", at most 63 characters.',
    });
  }
  if (choices.replicas > 1 && choices.postgresSecret === undefined) {
    throw new Fault('invalid', `${choices.replicas} replicas need PostgreSQL: SQLite serves one.`, {
      remedy: 'Name the Secret of its address with --postgres-secret, or leave out --replicas.',
    });
  }
  return choices;
}
