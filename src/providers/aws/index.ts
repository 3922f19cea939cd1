// Loaded by every server: whatever only a pool or a source on AWS needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { packerNeeds } from '#packer/needs.ts';
import { LaunchConfig } from './config.ts';
import { EcsConfig } from './ecs/config.ts';
import { EksConfig } from './eks/config.ts';
import { AmiConfig, VARIABLES } from './image/config.ts';
import { OfferingsConfig, placeOf as placeOfOfferings } from './offerings/config.ts';
import { ParametersConfig, placeOf as placeOfParameters } from './parameters/config.ts';
import { MOST_AT_ONCE } from './rates.ts';

export default {
  id: 'aws',
  title: 'Amazon Web Services',
  // For Packer; all else reads them by the chain of Amazon's own libraries.
  variables: VARIABLES,
  backends: {
    aws_launch_template: kind({
      summary: 'EC2 instances, from a launch template, from an image, or from the standard image alone.',
      config: LaunchConfig,
      example: {
        region: 'us-west-2',
        launch_template_name: 'velda-gpu-workers',
        instance_type: 'p3.2xlarge',
        ami_name: 'velda-agent-*',
        subnet_id: 'subnet-0abc1234',
        security_group_ids: ['sg-0abc1234'],
        max_stopped_instances: 2,
      },
      trust: 'any source',
      batch: MOST_AT_ONCE,
      boots: 'script',
      open: async (...given) => (await import('./launch-template/backend.ts')).openLaunchTemplate(...given),
    }),
    aws_ecs: kind({
      summary: 'Tasks of ECS on Fargate, each a container with the agent.',
      config: EcsConfig,
      example: {
        region: 'us-west-2',
        cluster_name: 'default',
        image: '123456789012.dkr.ecr.us-west-2.amazonaws.com/muster-agent:1.2.0',
        execution_role: 'arn:aws:iam::123456789012:role/ecsTaskExecutionRole',
        subnets: ['subnet-0abc1234', 'subnet-0def5678'],
        security_groups: ['sg-0abc1234'],
        vcpus: 2,
        memory_mib: 8_192,
      },
      trust: 'any source',
      open: async (...given) => (await import('./ecs/backend.ts')).openEcs(...given),
    }),
  },
  sources: {
    aws: kind({
      summary: 'Each parameter below a path of the AWS Systems Manager Parameter Store is a pool document.',
      config: ParametersConfig,
      example: { region: 'us-west-2', config_prefix: '/velda/pools/', update_interval: '60s' },
      trust: 'any source',
      place: placeOfParameters,
      open: async (...given) => (await import('./parameters/source.ts')).openParameters(...given),
    }),
    aws_auto: kind({
      summary: 'Defines a pool for each EC2 instance type that the region or zone offers and that matches.',
      config: OfferingsConfig,
      example: {
        pool_prefix: 'aws',
        template: { region: 'us-west-2', subnet_id: 'subnet-0abc1234', ami_name: 'velda-agent-*' },
        instance_type_prefixes: ['p3.', 'p4.', 'g4dn.'],
        autoscaler_config: { max_agents: 10, max_idle_agents: 2 },
      },
      trust: 'any source',
      place: placeOfOfferings,
      isOperators: true,
      open: async (...given) => (await import('./offerings/source.ts')).openOfferings(...given),
    }),
  },
  clusters: {
    eks: kind({
      summary: 'A cluster of Amazon EKS, by the credentials of the server or by a role.',
      config: EksConfig,
      example: { region: 'us-west-2', cluster_name: 'velda-cluster' },
      trust: 'operator only',
      open: async (...given) => (await import('./eks/cluster.ts')).openEks(...given),
    }),
  },
  images: {
    aws_ami: kind({
      summary: 'AMIs in one region, made by Packer on an EC2 instance.',
      config: AmiConfig,
      example: { region: 'us-west-2', instance_type: 't3.small', subnet_id: 'subnet-0abc1234' },
      trust: 'operator only',
      needs: ({ programs }) => packerNeeds(programs),
      open: async (...given) => (await import('./image/builder.ts')).openAmis(...given),
    }),
  },
} satisfies Provider;
