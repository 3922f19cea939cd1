import { kind, type Provider } from '#core/provider.ts';
import { ProcessConfig } from './config.ts';

export default {
  id: 'process',
  title: 'Processes of this machine',
  backends: {
    process: kind({
      summary: 'Each worker is an agent on the server itself, in a process of its own that outlives the server.',
      config: ProcessConfig,
      example: { slots: 2, env: { OMP_NUM_THREADS: '1' }, nice: 10 },
      trust: 'operator only',
      isLocal: true,
      runsAsOther: ({ user }) => user !== undefined && user !== 'root',
      open: async (...given) => (await import('./backend.ts')).openProcessBackend(...given),
    }),
  },
} satisfies Provider;
