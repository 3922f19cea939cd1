import { kind, type Provider } from '#core/provider.ts';
import { openBackend } from './backend.ts';
import { MachineConfig } from './config.ts';

export default {
  id: 'memory',
  title: 'A cloud in memory',
  backends: {
    memory_machine: kind({
      summary: 'Machines of a cloud in memory.',
      config: MachineConfig,
      example: { url: 'http://memory.internal', size: 'large' },
      trust: 'any source',
      boots: 'script',
      limits: { read: 20, write: 20 },
      batch: 1_000,
      open: (config, context) => openBackend(config, context),
    }),
  },
} satisfies Provider;
