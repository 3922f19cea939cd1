// What is asked of the engine for one worker: the same for the same launch and name, always.
import type { Launch } from '#core/provider.ts';
import { GATEWAY_NAME } from './broker-reach.ts';
import { type DockerConfig, isShared } from './config.ts';
import { labelsFor } from './marks.ts';
import { portParts } from './ports.ts';

type Part = Readonly<Record<string, unknown>>;

/** As `docker run --gpus` asks for them; the driver is the engine's choice. */
function deviceRequests(gpus: NonNullable<DockerConfig['gpus']>): readonly Part[] {
  const which = Array.isArray(gpus) ? { DeviceIDs: gpus } : { Count: gpus === 'all' ? -1 : gpus };
  return [{ Driver: '', Capabilities: [['gpu']], ...which }];
}

function hostConfig(config: DockerConfig, network: string | undefined, bindings: Part | undefined): Part {
  const { cpus, memory, shmSize, gpus, volumes, runtime, privileged } = config;
  // Shared networks bring `/etc/hosts` of another machine.
  const extraHosts = config.extraHosts ?? (isShared(network) ? undefined : [`${GATEWAY_NAME}:host-gateway`]);
  return {
    // Session processes whose parent has ended are nobody's children without an init.
    Init: true,
    ...config.hostConfig,
    // A container that has ended is over: its worker is replaced, and an agent that came to its end stays away.
    RestartPolicy: { Name: 'no' },
    AutoRemove: false,
    ...(network !== undefined && { NetworkMode: network }),
    ...(bindings && { PortBindings: bindings }),
    ...(extraHosts && { ExtraHosts: extraHosts.map((line) => line.replace('=', ':')) }),
    ...(cpus !== undefined && { NanoCpus: Math.round(cpus * 1e9) }),
    ...(memory !== undefined && { Memory: memory }),
    ...(shmSize !== undefined && { ShmSize: shmSize }),
    ...(gpus !== undefined && { DeviceRequests: deviceRequests(gpus) }),
    ...(volumes && { Binds: volumes }),
    ...(runtime !== undefined && { Runtime: runtime }),
    ...(privileged !== undefined && { Privileged: privileged }),
  };
}

/** The body of a creation. It holds no secret of ours: whoever may inspect containers reads all of it. */
export function bodyFor(
  config: DockerConfig,
  launch: Launch,
  { name, network }: { readonly name: string; readonly network: string | undefined },
): Part {
  const { image, env, user, command, labels, stopTimeout, containerName } = config;
  const { ExposedPorts, PortBindings } = portParts(config, launch.boot, network);
  return {
    Image: image,
    ...(network?.startsWith('container:') ? {} : { Hostname: name }),
    ...(env && { Env: Object.entries(env).map(([key, value]) => `${key}=${value}`) }),
    ...(user !== undefined && { User: user }),
    ...(command && { Cmd: command }),
    ...(ExposedPorts && { ExposedPorts }),
    Labels: { ...labels, ...labelsFor(launch, containerName === undefined ? undefined : name) },
    StopTimeout: Math.ceil(stopTimeout / 1_000),
    HostConfig: hostConfig(config, network, PortBindings),
  };
}
