import type { Ask } from '../world.ts';
import { createCluster, describeClusters } from './clusters.ts';
import { listTaskDefinitionFamilies, listTaskDefinitions } from './list-definitions.ts';
import { runTask } from './run-task.ts';
import {
  deleteTaskDefinitions,
  deregisterTaskDefinition,
  describeTaskDefinition,
  registerTaskDefinition,
} from './task-definition.ts';
import { describeTasks, listTasks, stopTask } from './tasks.ts';

/** What ECS can be asked here. */
export const ECS_ACTIONS: Readonly<Record<string, (ask: Ask) => object>> = {
  CreateCluster: createCluster,
  DescribeClusters: describeClusters,
  RegisterTaskDefinition: registerTaskDefinition,
  DescribeTaskDefinition: describeTaskDefinition,
  DeregisterTaskDefinition: deregisterTaskDefinition,
  DeleteTaskDefinitions: deleteTaskDefinitions,
  ListTaskDefinitions: listTaskDefinitions,
  ListTaskDefinitionFamilies: listTaskDefinitionFamilies,
  RunTask: runTask,
  ListTasks: listTasks,
  DescribeTasks: describeTasks,
  StopTask: stopTask,
};
