// What the kinds of this provider may do in a cluster: the roles, the tables of the documents and a test against all its calls come from here.
import { DEPLOYMENTS, EVENTS, PODS, SECRETS, SERVICES } from '#kube/resource.ts';
import type { Right } from '#kube/rights.ts';
import { AGENT_POOLS } from './agent-pool/resource.ts';

/** In each namespace whose AgentPools are served. Nothing outside of namespaces is needed. */
export const RIGHTS: readonly Right[] = [
  {
    resource: AGENT_POOLS,
    verbs: ['get', 'list', 'watch', 'patch'],
    why: 'reads the definitions; `patch` sets and removes the finalizer',
  },
  { resource: AGENT_POOLS, subresource: 'status', verbs: ['patch'], why: 'writes counts and conditions' },
  { resource: PODS, verbs: ['get', 'list', 'watch', 'create', 'delete'], why: 'starts and stops workers' },
  {
    resource: EVENTS,
    verbs: ['get', 'list', 'create', 'patch'],
    why: 'reads why pods do not start; writes what pools did, and counts what they did again',
  },
];

/** In the namespaces of computers, and of pools of Deployments; granted only where they are asked for. */
export const DEPLOYMENT_RIGHTS: readonly Right[] = [
  {
    resource: DEPLOYMENTS,
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    why: 'starts and stops machines; `patch` sets one off that is complete',
  },
  {
    resource: DEPLOYMENTS,
    subresource: 'finalizers',
    verbs: ['update'],
    why: 'OpenShift asks for it: a Deployment is deleted after all that it owns',
  },
  { resource: SERVICES, verbs: ['list', 'watch', 'create'], why: 'publishes the port of a machine' },
  { resource: SECRETS, verbs: ['create'], why: "holds the agent's file and key; the server reads none" },
  { resource: PODS, verbs: ['list', 'watch'], why: 'reads why a machine does not run' },
  { resource: EVENTS, verbs: ['list'], why: 'reads why a pod does not start' },
];
