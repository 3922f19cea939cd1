import { kind, type Provider } from 'muster/src/core/provider.ts';
import { openBackend } from './backend.ts';
import { ImageConfig, MachineConfig, PoolsConfig, RacksConfig } from './config.ts';
import { openImageBuilder } from './image-builder.ts';
import { openRacks } from './racks.ts';
import { openSource } from './source.ts';

export default {
  id: 'depot',
  title: 'The depot in the cellar',
  backends: {
    depot_machine: kind({
      summary: 'Machines that the depot lends.',
      config: MachineConfig,
      example: { url: 'http://depot.internal', size: 'large' },
      // A launch carries a token, which is sent to `url`.
      trust: 'operator only',
      boots: 'script',
      limits: { read: 10, write: 5 },
      open: openBackend,
    }),
  },
  sources: {
    depot_pools: kind({
      summary: 'Pool documents that the depot keeps.',
      config: PoolsConfig,
      example: { url: 'http://depot.internal', update_interval: '60s' },
      trust: 'operator only',
      place: ({ url }) => url,
      open: openSource,
    }),
  },
  images: {
    depot_image: kind({
      summary: 'Images that the workshop of the depot makes.',
      config: ImageConfig,
      example: { url: 'http://depot.internal' },
      trust: 'operator only',
      open: openImageBuilder,
    }),
  },
  nodeGroups: {
    depot_racks: kind({
      summary: 'Racks of GPU machines, which become nodes of a Kubernetes cluster.',
      config: RacksConfig,
      example: { url: 'http://depot.internal' },
      trust: 'operator only',
      limits: { read: 10, write: 5 },
      open: openRacks,
    }),
  },
} satisfies Provider;
