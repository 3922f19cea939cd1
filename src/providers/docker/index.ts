// Loaded by every server: whatever only a pool of containers needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { DockerConfig } from './config.ts';
import { DockerImageConfig } from './image-builder/config.ts';

const imageKind = (summary: string) =>
  kind({
    summary,
    config: DockerImageConfig,
    example: { base: 'node:24-bookworm-slim' },
    trust: 'operator only',
    open: async (...given) => (await import('./image-builder/builder.ts')).openDockerImages(...given),
  });

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
  images: {
    docker: imageKind('A container image, built by a Docker engine.'),
    // Pods run the image that containers run: the tag that is built is the tag that is deployed.
    kubernetes: imageKind('The same image for pods: with `--push` it gets to where the nodes of a cluster pull it.'),
  },
} satisfies Provider;
