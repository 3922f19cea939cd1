// Loaded by every server: whatever only a pool, source or cluster on Azure needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { packerNeeds } from '#packer/needs.ts';
import { AksConfig } from './aks/config.ts';
import { AppConfigurationConfig, placeOf } from './app-configuration/config.ts';
import { ContainerInstanceConfig } from './container-instance/config.ts';
import { GalleryImageConfig } from './image/config.ts';
import { VmConfig } from './vm/config.ts';
import { VmssConfig } from './vmss/config.ts';

// One request a machine, of 10 a second that Resource Manager allows.
const MACHINES_A_CALL = 10;

export default {
  id: 'azure',
  title: 'Microsoft Azure',
  // Those that Azure's own libraries read.
  variables: [
    'AZURE_TENANT_ID',
    'AZURE_CLIENT_ID',
    'AZURE_CLIENT_SECRET',
    'AZURE_FEDERATED_TOKEN_FILE',
    'AZURE_AUTHORITY_HOST',
    'AZURE_SUBSCRIPTION_ID',
    // Where az keeps its login.
    'AZURE_CONFIG_DIR',
    'AZURE_RESOURCE_MANAGER_URL',
  ],
  backends: {
    azure_vm: kind({
      summary: 'Virtual machines of Azure, each with a network interface and a disk of its own.',
      config: VmConfig,
      example: {
        subscription_id: '00000000-0000-0000-0000-000000000001',
        resource_group: 'velda',
        location: 'westeurope',
        vm_size: 'Standard_NC4as_T4_v3',
        subnet_id: 'velda-network/agents',
        market: 'spot',
      },
      trust: 'any source',
      batch: MACHINES_A_CALL,
      hasPrices: true,
      boots: 'script',
      open: async (...given) => (await import('./vm/backend.ts')).openVms(...given),
    }),
    azure_container_instance: kind({
      summary: 'Container groups of Azure Container Instances, each with one container of an image that has the agent.',
      config: ContainerInstanceConfig,
      example: {
        subscription_id: '00000000-0000-0000-0000-000000000001',
        resource_group: 'velda',
        location: 'westeurope',
        image: 'velda.azurecr.io/muster-agent:1.2.0',
        cpus: 2,
        memory_gb: 4,
      },
      trust: 'any source',
      batch: MACHINES_A_CALL,
      open: async (...given) => (await import('./container-instance/backend.ts')).openContainerInstances(...given),
    }),
    azure_vmss: kind({
      summary: 'Machines of a flexible scale set of Azure, formed by its profile.',
      config: VmssConfig,
      example: {
        subscription_id: '00000000-0000-0000-0000-000000000001',
        resource_group: 'velda',
        vmss_name: 'velda-agent-gpu',
      },
      trust: 'any source',
      batch: MACHINES_A_CALL,
      hasPrices: true,
      boots: 'script',
      open: async (...given) => (await import('./vmss/backend.ts')).openScaleSet(...given),
    }),
  },
  sources: {
    azure: kind({
      summary: 'Each key below a prefix of an App Configuration store is a pool document.',
      config: AppConfigurationConfig,
      example: { endpoint: 'https://velda-pools.azconfig.io', config_prefix: 'pools/', update_interval: '60s' },
      trust: 'any source',
      place: placeOf,
      open: async (...given) => (await import('./app-configuration/source.ts')).openAppConfiguration(...given),
    }),
  },
  clusters: {
    aks: kind({
      summary:
        'A cluster of Azure Kubernetes Service, by a client secret, workload identity, managed identity or `az`.',
      config: AksConfig,
      example: {
        subscription_id: '00000000-0000-0000-0000-000000000001',
        resource_group: 'velda',
        cluster_name: 'velda-cluster',
      },
      trust: 'operator only',
      open: async (...given) => (await import('./aks/cluster.ts')).openAks(...given),
    }),
  },
  images: {
    azure_vm: kind({
      summary: 'Versions of an image in a compute gallery of Azure, made by Packer on a virtual machine.',
      config: GalleryImageConfig,
      example: {
        resource_group: 'velda',
        gallery: 'velda',
        location: 'westeurope',
        replicate_to: ['westeurope', 'eastus'],
      },
      trust: 'operator only',
      needs: ({ programs }) => packerNeeds(programs),
      open: async (...given) => (await import('./image/builder.ts')).openGalleryImages(...given),
    }),
  },
} satisfies Provider;
