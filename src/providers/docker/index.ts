// Loaded by every server: whatever only a pool of containers needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { DockerConfig } from './config.ts';

export default {
  id: 'docker',
  title: 'Docker',
  // What the docker command reads.
  variables: ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY', 'HOME'],
  backends: {
    docker: kind({
      summary: 'A container of a Docker engine for each worker.',
      config: DockerConfig,
      example: { image: 'muster/agent', cpus: 2, memory: '4g' },
      // Who may start containers may mount the disk of the engine's machine.
      trust: 'operator only',
      // For whole calls of the program; how many requests reach the engine at a time is limited apart.
      limits: { read: { perSecond: 20, burst: 40 }, write: { perSecond: 50, burst: 100 } },
      open: async (...given) => (await import('./backend.ts')).openContainers(...given),
    }),
  },
} satisfies Provider;
