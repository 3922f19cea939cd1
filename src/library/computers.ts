// `@muster/muster/computers`: computers from a program, without a server.
export { Fault } from '#core/fault.ts';
export { BaseComputerProvisioner, type ComputerLog, type ComputerState, type Patterns } from './base.ts';
export {
  AWSProvisioner,
  AzureProvisioner,
  DockerProvisioner,
  GCPProvisioner,
  KubernetesProvisioner,
} from './classes.ts';
export {
  type AgentDownload,
  type AWSOptions,
  type AzureOptions,
  type ComputerOptions,
  type DockerOptions,
  DockerPlatform,
  type GCPOptions,
  type KubernetesOptions,
  KubernetesPlatform,
  type MachineOptions,
} from './options.ts';
export { type ComputerEndpoint, PlatformProvisioner } from './platform-class.ts';
export { TimeoutError } from './timeout-error.ts';
