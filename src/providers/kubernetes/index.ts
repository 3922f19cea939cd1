// Loaded by every server: whatever only a pool or a source in a cluster needs is loaded when one is opened.
import { z } from 'zod';
import { kind, type Provider } from '#core/provider.ts';
import { placeOf } from './agent-pool/place.ts';
import { BackendConfig, KubeconfigConfig, SourceConfig } from './config.ts';
import { DeploymentConfig } from './deployments/config.ts';
import { RuntimeConfig } from './runtimes/config.ts';

// For whole calls of the program; the API server's own fairness comes after.
const LIMITS = { read: { perSecond: 50, burst: 100 }, write: { perSecond: 50, burst: 100 } };

export default {
  id: 'kubernetes',
  title: 'Kubernetes',
  // What kubectl reads, and what the credential plug-ins of the clouds read.
  variables: [
    'KUBECONFIG',
    'KUBERNETES_SERVICE_HOST',
    'KUBERNETES_SERVICE_PORT',
    'HOME',
    'PATH',
    'AWS_PROFILE',
    'AWS_REGION',
    'AWS_DEFAULT_REGION',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_CONFIG_FILE',
    'AWS_SHARED_CREDENTIALS_FILE',
    'AWS_ROLE_ARN',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'CLOUDSDK_CONFIG',
    'AZURE_CONFIG_DIR',
    'AZURE_CLIENT_ID',
    'AZURE_TENANT_ID',
    'AZURE_FEDERATED_TOKEN_FILE',
    'AZURE_AUTHORITY_HOST',
  ],
  clusters: {
    kubeconfig: kind({
      summary: 'The cluster of a kubeconfig file and context; without either, the one that kubectl would use.',
      config: KubeconfigConfig,
      example: { path: '/etc/muster/kubeconfig', context: 'prod' },
      trust: 'operator only',
      open: async (...given) => (await import('./open-cluster.ts')).openKubeconfigCluster(...given),
    }),
    in_cluster: kind({
      summary: 'The cluster that the server runs in, by the service account of its pod.',
      config: z.object({}),
      example: {},
      trust: 'operator only',
      open: async (...given) => (await import('./open-cluster.ts')).openOwnCluster(...given),
    }),
  },
  backends: {
    kubernetes: kind({
      summary: 'A pod for each worker.',
      config: BackendConfig,
      example: {
        namespace: 'velda',
        template: {
          metadata: { labels: { app: 'velda-agent' } },
          spec: { containers: [{ name: 'agent', image: 'veldaio/agent:latest' }] },
        },
        context: 'prod',
      },
      trust: 'operator only',
      limits: LIMITS,
      open: async (...given) => (await import('./pods/backend.ts')).openPods(...given),
    }),
    kubernetes_deployment: kind({
      summary: 'A Deployment for each machine, and a Service for its port: for computers.',
      config: DeploymentConfig,
      example: { namespace: 'computers', image: 'muster/agent:0.1.0', service_type: 'ClusterIP', context: 'prod' },
      trust: 'operator only',
      limits: LIMITS,
      open: async (...given) => (await import('./deployments/backend.ts')).openDeployments(...given),
    }),
  },
  sources: {
    kubernetes: kind({
      summary: 'Each AgentPool object of a cluster is a pool, and its pods are the workers.',
      config: SourceConfig,
      example: { namespace: 'velda', context: 'prod' },
      trust: 'operator only',
      place: placeOf,
      mayName: ['kubernetes'],
      limits: LIMITS,
      open: async (...given) => (await import('./agent-pool/source.ts')).openAgentPools(...given),
    }),
  },
  runtimes: {
    kubernetes: kind({
      summary: 'A runtime of its own in a cluster, made from templates.',
      config: RuntimeConfig,
      example: {
        host: 'http://node-*.example.com',
        image: 'rilldata/rill',
        namespace: 'cloud-runtime',
        templatePaths: {
          httpIngress: 'templates/http_ingress.yaml',
          grpcIngress: 'templates/grpc_ingress.yaml',
          service: 'templates/service.yaml',
          statefulset: 'templates/statefulset.yaml',
        },
      },
      trust: 'operator only',
      limits: LIMITS,
      open: async (...given) => (await import('./runtimes/host.ts')).openRuntimeHost(...given),
    }),
  },
} satisfies Provider;
