// The service of one machine: a single container that always runs and always has its processors.
import { agentFile, withOverrides } from '#boot/agent-file.ts';
import { Fault } from '#core/fault.ts';
import type { Launch } from '#core/provider.ts';
import { launchLabels } from '../compute/marks.ts';
import { AGENT_CONFIG_VARIABLE, type CloudRunConfig } from './config.ts';

/** For machines without a port of their own: a service whose container does not listen never becomes ready. */
const USUAL_PORT = 8_080;

// Cloud Run, "Quotas and limits": 32 KB for each variable.
const MOST_BYTES = 32 * 1_024;

// Cloud Run gives a container four minutes to start.
const PROBE = { periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 120 };

function agentConfigOf(name: string, { boot }: Launch, config: CloudRunConfig): string {
  const text = agentFile(withOverrides(boot, config), { name });
  const bytes = Buffer.byteLength(text);
  if (bytes <= MOST_BYTES) return text;
  const message = `The agent's file of ${bytes} bytes exceeds the limit of Cloud Run for a variable, ${MOST_BYTES} bytes.`;
  throw new Fault('invalid', message, { remedy: 'Shorten agent_config; put long files into the image.' });
}

const vpcOf = ({ network, subnetwork }: CloudRunConfig): object | undefined =>
  network === undefined && subnetwork === undefined
    ? undefined
    : {
        egress: 'PRIVATE_RANGES_ONLY',
        networkInterfaces: [{ ...(network && { network }), ...(subnetwork && { subnetwork }) }],
      };

function containerOf(name: string, launch: Launch, config: CloudRunConfig): object {
  const { image, containerName, cpu, memory, env = {} } = config;
  const { port } = launch.boot;
  const containerPort = port ?? USUAL_PORT;
  const forSessions = Object.keys(env).join(',');
  const variables = {
    ...(forSessions !== '' && { MUSTER_SESSION_ENV: forSessions }),
    ...env,
    [AGENT_CONFIG_VARIABLE]: agentConfigOf(name, launch, config),
  };
  return {
    ...(containerName !== undefined && { name: containerName }),
    image,
    ...(port === undefined && { args: ['--serve', String(USUAL_PORT)] }),
    env: Object.entries(variables).map(([key, value]) => ({ name: key, value })),
    // An agent works between requests, and its service gets hardly any.
    resources: { limits: { cpu, memory }, cpuIdle: false },
    ports: [{ containerPort }],
    // There is no liveness probe: a machine that is merely busy would lose its sessions.
    startupProbe: { httpGet: { path: '/health', port: containerPort }, ...PROBE },
  };
}

/** The same for the same launch and name, always. Secret. */
export function serviceFor(name: string, launch: Launch, config: CloudRunConfig): object {
  const { labels, serviceAccount, allowUnauthenticated } = config;
  const vpcAccess = vpcOf(config);
  return {
    labels: { ...labels, ...launchLabels(launch) },
    // The agent connects to the server: without a port of its launch no caller needs to reach it.
    ingress: launch.boot.port === undefined ? 'INGRESS_TRAFFIC_INTERNAL_ONLY' : 'INGRESS_TRAFFIC_ALL',
    ...(allowUnauthenticated && { invokerIamDisabled: true }),
    template: {
      // Two containers would be two agents of one name.
      scaling: { minInstanceCount: 1, maxInstanceCount: 1 },
      // The first generation lacks system calls that commands of people need.
      executionEnvironment: 'EXECUTION_ENVIRONMENT_GEN2',
      ...(serviceAccount !== undefined && { serviceAccount }),
      ...(vpcAccess && { vpcAccess }),
      containers: [containerOf(name, launch, config)],
    },
  };
}
