import type { RunTaskCommandInput } from '@aws-sdk/client-ecs';
import { agentFile, withOverrides } from '#boot/agent-file.ts';
import { Fault } from '#core/fault.ts';
import type { Launch } from '#core/provider.ts';
import { launchTags, NAME, PORT } from '../marks.ts';
import type { EcsConfig } from './config.ts';

/** What the listing asks for: which cluster of Muster started a task. It stays when ECS takes the tags of a task away. */
export const starterOf = (cluster: string): string =>
  `muster/${cluster.replace(/[^A-Za-z0-9/_-]/g, '-')}`.slice(0, 128);

const CONFIG_VARIABLE = 'MUSTER_AGENT_CONFIG';

// API reference of RunTask: "A total of 8192 characters are allowed for overrides", in JSON.
const LONGEST_OVERRIDES = 8_192;

/** One call to RunTask: whom it makes, of which definition, under which token. */
export interface RunCall {
  readonly name: string;
  readonly definition: string;
  readonly token: string;
}

/** The agent's file goes by the environment, for a task gets nothing else; its token is of use for one join of this name. */
function overridesFor(config: EcsConfig, { boot }: Launch, name: string): RunTaskCommandInput['overrides'] {
  const value = agentFile(withOverrides(boot, config), { name });
  const environment = [{ name: CONFIG_VARIABLE, value }];
  const overrides = { containerOverrides: [{ name: config.containerName, environment }] };
  const { length } = JSON.stringify(overrides);
  if (length <= LONGEST_OVERRIDES) return overrides;
  throw new Fault(
    'invalid',
    `The agent's file has ${length} characters in a request of ECS, which takes ${LONGEST_OVERRIDES}.`,
    {
      remedy:
        'Shorten agent_config, or give the server a certificate that machines trust, so that the file needs no authority.',
    },
  );
}

function tagsFor(config: EcsConfig, launch: Launch, name: string): RunTaskCommandInput['tags'] {
  const { port } = launch.boot;
  const tags = {
    Name: name,
    ...config.tags,
    ...launchTags(launch),
    [NAME]: name,
    ...(port !== undefined && { [PORT]: String(port) }),
  };
  return Object.entries(tags).map(([key, value]) => ({ key, value }));
}

/** The same bytes for the same launch, name and definition, however often it is repeated. */
export function runRequest(
  config: EcsConfig,
  launch: Launch,
  { name, definition, token }: RunCall,
): RunTaskCommandInput {
  const { clusterName, subnets, securityGroups, assignPublicIp } = config;
  return {
    cluster: clusterName,
    taskDefinition: definition,
    count: 1,
    launchType: 'FARGATE',
    clientToken: token,
    startedBy: starterOf(launch.mark.cluster),
    networkConfiguration: {
      awsvpcConfiguration: {
        subnets,
        ...(securityGroups && { securityGroups }),
        assignPublicIp: assignPublicIp ? 'ENABLED' : 'DISABLED',
      },
    },
    overrides: overridesFor(config, launch, name),
    tags: tagsFor(config, launch, name),
  };
}
