// What Muster may do in the namespace of a provisioner of runtimes: the table of the guide and a test against all calls.
import { DEPLOYMENTS, PODS, SERVICES } from '#kube/resource.ts';
import type { Right } from '#kube/rights.ts';
import { CLAIMS, INGRESSES, STATEFUL_SETS } from './names.ts';

const LIFE = ['list', 'create', 'patch', 'delete'];
const made = 'is made, changed and removed; server-side apply needs `create` and `patch`';

/** In the namespace of the provisioner. Nothing outside of it is needed. */
export const RUNTIME_RIGHTS: readonly Right[] = [
  { resource: STATEFUL_SETS, verbs: ['get', ...LIFE], why: `${made}; \`get\` finds out whether its claims must grow` },
  { resource: DEPLOYMENTS, verbs: LIFE, why: made },
  { resource: SERVICES, verbs: LIFE, why: made },
  { resource: INGRESSES, verbs: LIFE, why: made },
  { resource: CLAIMS, verbs: LIFE, why: 'grows, and goes with its runtime; `create` only for the template `pvc`' },
  { resource: PODS, verbs: ['list'], why: 'reads why a runtime does not start' },
];
