// Version 1 of the Container API, as far as node pools need it.
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { finished, type Progress } from '#rest/retry.ts';
import { type GoogleApi, openGoogleApi } from '../google-api.ts';
import { explainGoogle } from '../google-fault.ts';

const HOST = 'container.googleapis.com';

export interface NodePool {
  readonly name: string;
  readonly status?: string;
  readonly autoscaling?: { readonly enabled?: boolean };
  readonly config?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly resourceLabels?: Readonly<Record<string, string>>;
  };
  /** One for each of its zones; none while the pool is being made. */
  readonly instanceGroupUrls?: readonly string[];
}

interface ContainerOperation {
  readonly name: string;
  readonly status?: string;
  readonly error?: { readonly code?: number; readonly message?: string };
}

/** A cluster. */
export interface PoolPlace {
  readonly project: string;
  readonly location: string;
  readonly clusterName: string;
}

/** The node pools of one cluster. */
export interface Pools {
  list(signal: AbortSignal): Promise<readonly NodePool[]>;
  get(name: string, signal: AbortSignal): Promise<NodePool>;
  /** Waits until GKE is done. */
  create(pool: object, signal: AbortSignal): Promise<void>;
  delete(name: string, signal: AbortSignal): Promise<void>;
}

// A pool without nodes is there within a minute or two.
const DONE_IN_MS = 180_000;

const containerAt = (project: string, context: Context): GoogleApi =>
  context.shared(`container ${project}`, () => {
    const remedy = `Grant the server's account roles/container.clusterAdmin in ${project}; to read pools, roles/container.clusterViewer is enough.`;
    return openGoogleApi({
      context,
      base: `https://${HOST}/v1`,
      isEmulator: false,
      explain: (status, body) => explainGoogle(status, body, remedy, `${HOST} --project ${project}`),
    });
  });

export function poolsOf({ project, location, clusterName }: PoolPlace, context: Context): Pools {
  const { ask, clock } = containerAt(project, context);
  const place = `/projects/${project}/locations/${location}`;
  const path = `${place}/clusters/${clusterName}/nodePools`;

  async function done(first: ContainerOperation, what: string, signal: AbortSignal): Promise<void> {
    const options = { clock, signal, what, withinMs: DONE_IN_MS };
    await finished(options, async (): Promise<Progress<true>> => {
      const { status, error } = await ask<ContainerOperation>({ path: `${place}/operations/${first.name}` }, signal);
      if (status !== 'DONE') return {};
      // Codes of google.rpc: 8 is that of quotas and of stock.
      if (error) throw new Fault(error.code === 8 ? 'quota' : 'invalid', `${what} failed: ${error.message ?? ''}`);
      return { done: true };
    });
  }

  return {
    async list(signal) {
      const { nodePools = [] } = await ask<{ nodePools?: readonly NodePool[] }>({ path }, signal);
      return nodePools;
    },
    get: (name, signal) => ask<NodePool>({ path: `${path}/${name}` }, signal),
    async create(nodePool, signal) {
      const operation = await ask<ContainerOperation>({ method: 'POST', path, body: { nodePool } }, signal);
      await done(operation, `The creation of a node pool of ${clusterName}`, signal);
    },
    async delete(name, signal) {
      const operation = await ask<ContainerOperation>({ method: 'DELETE', path: `${path}/${name}` }, signal);
      await done(operation, `The deletion of the node pool ${name}`, signal);
    },
  };
}
