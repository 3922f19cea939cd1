import { kind, type Provider } from '#core/provider.ts';
import { FileConfig, placeOf } from './config.ts';

export default {
  id: 'file',
  title: 'Files of this machine',
  sources: {
    file: kind({
      summary: 'Each YAML or JSON file in a watched directory of the server, at any depth, is a pool document.',
      config: FileConfig,
      example: { path: '/etc/muster/pools', update_interval: '10s' },
      trust: 'operator only',
      place: placeOf,
      open: async (...given) => (await import('./source.ts')).openFileSource(...given),
    }),
  },
} satisfies Provider;
