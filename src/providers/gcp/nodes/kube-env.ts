// What GKE writes into the metadata of its instances for those who scale them: `AUTOSCALER_ENV_VARS` of `kube-env`, a list
// `node_labels=a=b,c=d;node_taints=e=f:NoSchedule;kube_reserved=cpu=80m,memory=1Gi`.
import { parse } from 'yaml';
import type { NodeTaint } from '#core/node-group.ts';
import { quantityOf } from '#kube/quantity.ts';
import type { Amounts } from './reserved.ts';

export interface KubeEnv {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly NodeTaint[];
  /** What the kubelet keeps for itself, by resource. */
  readonly reserved: Amounts;
}

function entriesOf(env: string): unknown {
  try {
    return parse(env);
  } catch {
    return undefined;
  }
}

/** The parts of a list by their names; each is a list of its own. */
function partsOf(env: string): ReadonlyMap<string, string> {
  const entries = entriesOf(env);
  const list =
    typeof entries === 'object' && entries !== null && (entries as Record<string, unknown>).AUTOSCALER_ENV_VARS;
  if (typeof list !== 'string') return new Map();
  const parts = list.split(';').map((part) => {
    const at = part.indexOf('=');
    return [
      part.slice(0, at).trim(),
      part
        .slice(at + 1)
        .trim()
        .replace(/^['"]|['"]$/g, ''),
    ] as const;
  });
  return new Map(parts);
}

const pairsOf = (list = ''): readonly (readonly [key: string, value: string])[] =>
  list.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 ? [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const] : [];
  });

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

function taintOf([key, text]: readonly [string, string]): readonly NodeTaint[] {
  const [value = '', written = ''] = text.split(':');
  const effect = EFFECTS.find((each) => each === written);
  return effect ? [{ key, ...(value !== '' && { value }), effect }] : [];
}

function amountOf([resource, text]: readonly [string, string]): readonly (readonly [string, number])[] {
  const amount = quantityOf(text);
  return amount === undefined ? [] : [[resource, Math.ceil(amount * (resource === 'cpu' ? 1_000 : 1))]];
}

export function readKubeEnv(env: string): KubeEnv {
  const parts = partsOf(env);
  return {
    labels: Object.fromEntries(pairsOf(parts.get('node_labels'))),
    taints: pairsOf(parts.get('node_taints')).flatMap(taintOf),
    reserved: Object.fromEntries(pairsOf(parts.get('kube_reserved')).flatMap(amountOf)),
  };
}
