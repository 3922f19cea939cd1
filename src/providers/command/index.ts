import { kind, type Provider } from '#core/provider.ts';
import { CommandConfig } from './config.ts';

export default {
  id: 'command',
  title: 'Your own scripts',
  backends: {
    command: kind({
      summary: 'Bash scripts on the server create, list and delete the machines of any cloud.',
      config: CommandConfig,
      example: {
        start: [
          'docker create --name "$WORKER_NAME" my-agent >&2',
          'docker cp "$MUSTER_AGENT_CONFIG" "$WORKER_NAME:/etc/velda/agent.yaml" >&2',
          'docker start "$WORKER_NAME" >&2',
        ].join('\n'),
        stop: 'docker rm -f "$1"',
        list: "docker ps --filter ancestor=my-agent --format '{{.Names}} {{.State}}'",
        timeout: '2m',
      },
      trust: 'operator only',
      open: async (...given) => (await import('./backend.ts')).openCommandBackend(...given),
    }),
  },
} satisfies Provider;
