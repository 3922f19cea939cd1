// Names and numbers are those of Velda's wire: a change here is a break with every agent in the field.
import type { DescMessage } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import * as broker from './gen/velda/broker_pb.ts';
import * as pool from './gen/velda/pool_pb.ts';
import * as session from './gen/velda/session_pb.ts';
import * as task from './gen/velda/task_pb.ts';

const WIRE: readonly (readonly [DescMessage, string])[] = [
  [
    broker.AgentUpdateRequestSchema,
    'agent_identity 1, session_init_response 2, session_completion 3, current_executions 4, slots 5, muster_hello 1000, reports 1001',
  ],
  [broker.AgentIdentitySchema, 'agent_id 1, hostname 2, pool 3, ip_address 4'],
  [broker.CurrentExecutionSchema, 'request 1, response 2'],
  [
    broker.AgentUpdateResponseSchema,
    'session_request 1, kill_session_request 2, server_info 3, commands 1000, muster_server 1001',
  ],
  [broker.ServerInfoSchema, 'version 1'],
  [broker.KillSessionAgentRequestSchema, 'instance_id 1, session_id 2, force 3'],
  [broker.KillSessionRequestSchema, 'instance_id 1, session_id 2, service_name 3, force 4'],
  [broker.ListSessionsRequestSchema, 'instance_id 1, service_name 2'],
  [broker.ListSessionsResponseSchema, 'sessions 1'],
  [broker.SetTagRequestSchema, 'instance_id 1, session_id 2, tags 3'],
  [session.SessionInitResponseSchema, 'instance_id 1, session_id 2, success 3, port 4, host_key 5'],
  [session.SessionCompletionSchema, 'instance_id 1, session_id 2, batch_task_result 3, checkpointed 4'],
  [session.BatchTaskResultSchema, 'exit_code 1, terminated_signal 2'],
  [
    session.SessionRequestSchema,
    'session_id 1, instance_id 2, user 3, pool 4, init_timeout 5, idle_timeout 6, priority 8, workload 9, labels 10, task_id 11, service_name 12, force_new_session 13, dependencies 14, connection_finish_action 15, checkpointed 16, agent_session_info 17, disallow_new_session 18, tags 19, writable_dirs 20, snapshot_name 21',
  ],
  [
    session.WorkloadSchema,
    'command 1, args 2, working_dir 3, environs 4, shell 5, uid 6, gid 7, groups 8, command_path 9, total_shards 10, shard_scheduling 11, shard_index 12, login_user 13, writable_dirs 14, snapshot_name 15, stdin 16, email_status 17, service_name 18',
  ],
  [session.ExecutionStatusSchema, 'session_id 1, execution_id 2, status 3, task_id 4, ssh_connection 5, started_at 6'],
  [
    session.SessionSchema,
    'session_id 1, user 2, pool 3, instance_id 4, status 5, service_name 6, labels 7, internal_ip_address 8, tags 9',
  ],
  [task.PushLogsRequestSchema, 'task_id 1, stream 2, data 3'],
  [pool.PoolSchema, 'name 1, description 2, autoscaler_status 3'],
  [pool.PoolAutoscalerStatusSchema, 'last_allocation_error 1, last_allocation_error_time 2'],
  [pool.ListPoolsRequestSchema, 'region 32'],
  [pool.GetPoolRequestSchema, 'pool 1, region 32'],
  [pool.WatchPoolStatusRequestSchema, 'pool 1, region_id 2'],
  [pool.PoolStatusNotificationSchema, 'pool 1, autoscaler_status 2'],
];

test.each(WIRE.map(([schema, fields]) => [schema.typeName, schema, fields] as const))('%s', (_, schema, fields) => {
  expect(schema.fields.map(({ name, number }) => `${name} ${number}`).join(', ')).toBe(fields);
});

test('the services have the names that agents call', () => {
  const methods = [broker.BrokerService, task.TaskLogService, pool.PoolManagerService].map(
    ({ typeName, methods: list }) =>
      `${typeName}: ${list.map(({ name, methodKind }) => `${name} ${methodKind}`).join(', ')}`,
  );

  expect(methods).toEqual([
    'velda.BrokerService: AgentUpdate bidi_streaming, RequestSession unary, KillSession unary, ListSessions unary, SetTag unary',
    'velda.TaskLogService: PushLogs client_streaming',
    'velda.PoolManagerService: ListPools unary, GetPool unary, WatchPoolStatus server_streaming',
  ]);
});
