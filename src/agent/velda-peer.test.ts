import { create, fromBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import type { AgentCommand } from '#core/agent-link.ts';
import { silentLog } from '#core/log.ts';
import {
  type AgentUpdateRequest,
  AgentUpdateRequestSchema,
  AgentUpdateResponseSchema,
} from '#wire/gen/velda/broker_pb.ts';
import { type PushLogsRequest, PushLogsRequestSchema } from '#wire/gen/velda/task_pb.ts';
import { openVeldaPeer, type VeldaTask } from './velda-peer.ts';

function aPeer(tasks = new Map<string, VeldaTask>()) {
  const said: AgentUpdateRequest[] = [];
  const obeyed: AgentCommand[] = [];
  const logs: { headers: Readonly<Record<string, string>>; pushed: PushLogsRequest[]; isClosed: boolean }[] = [];
  const peer = openVeldaPeer({
    stream: {
      write(bytes, written) {
        said.push(fromBinary(AgentUpdateRequestSchema, bytes));
        written();
      },
    },
    line: {
      open(_, headers) {
        const log = { headers, pushed: [] as PushLogsRequest[], isClosed: false };
        logs.push(log);
        return {
          write(bytes, written) {
            log.pushed.push(fromBinary(PushLogsRequestSchema, bytes));
            written();
          },
          halfClose: () => {
            log.isClosed = true;
          },
          cancel: () => {},
        };
      },
    },
    log: silentLog,
    tasks,
    obey: (command) => void obeyed.push(command),
  });
  const hear = (message: Parameters<typeof create<typeof AgentUpdateResponseSchema>>[1]): void =>
    peer.hear(create(AgentUpdateResponseSchema, message));
  return { peer, said, obeyed, logs, hear, tasks };
}

const request = {
  sessionId: 's1',
  instanceId: 7n,
  taskId: 'job/1',
  priority: 3n,
  workload: { command: 'make', args: ['all'], environs: ['A=1=2', 'B'], workingDir: '/w' },
};
const head = { session: 's1', attempt: 1 } as const;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a request with a workload is started, and its course reported in such a broker’s own messages', () => {
  const { peer, said, obeyed, logs, hear, tasks } = aPeer();

  hear({ sessionRequest: request });
  peer.report({ is: 'started', ...head });
  peer.report({ is: 'output', ...head, seq: 1, stream: 'stderr', data: bytes('oops') });
  peer.report({ is: 'ended', ...head, lastSeq: 1, how: 'exited', exitCode: 0 });

  expect(obeyed).toEqual([
    {
      do: 'start',
      ...head,
      spec: {
        command: ['make', 'all'],
        env: { A: '1=2', B: '' },
        cwd: '/w',
        stdin: false,
        priority: 3,
        labels: {},
        graceMs: 10_000,
        retries: 0,
      },
    },
    { do: 'ack', ...head, seq: 1, result: false },
    { do: 'ack', ...head, seq: 1, result: true },
  ]);
  expect(said).toMatchObject([
    { sessionInitResponse: { sessionId: 's1', instanceId: 7n, success: true } },
    { sessionCompletion: { sessionId: 's1', instanceId: 7n, batchTaskResult: { exitCode: 0 } } },
  ]);
  expect(logs).toMatchObject([
    {
      headers: { 'velda-session': '7:s1:job/1' },
      isClosed: true,
      pushed: [{ taskId: 'job/1', stream: 2, data: bytes('oops') }],
    },
  ]);
  expect(tasks.size).toBe(0);
});

test.each([
  [{ how: 'signalled', signal: 'SIGKILL' }, { terminatedSignal: 9 }],
  [{ how: 'killed' }, {}],
  [{ how: 'lost' }, {}],
] as const)('an end by other means is reported as such a broker reads it: %#', (how, result) => {
  const { peer, said, hear } = aPeer();
  hear({ sessionRequest: request });

  peer.report({ is: 'ended', ...head, lastSeq: 0, ...how });

  expect(said[0]?.sessionCompletion?.batchTaskResult).toMatchObject(result);
  expect(said[0]?.sessionCompletion?.batchTaskResult?.exitCode).toBeUndefined();
});

test('a session over SSH is refused, and so is what cannot start', () => {
  const { peer, said, obeyed, hear } = aPeer();

  hear({ sessionRequest: { sessionId: 's2', instanceId: 7n } });
  hear({ sessionRequest: request });
  peer.report({ is: 'refused', ...head, why: 'No slot.' });

  expect(said.map(({ sessionInitResponse: init }) => [init?.sessionId, init?.instanceId, init?.success])).toEqual([
    ['s2', 7n, false],
    ['s1', 7n, false],
  ]);
  expect(obeyed.map((command) => command.do)).toEqual(['start']);
});

test('input comes with the request, and a kill as it is asked for', () => {
  const { obeyed, hear } = aPeer();

  hear({ sessionRequest: { ...request, workload: { ...request.workload, stdin: new Uint8Array(bytes('in')) } } });
  hear({ killSessionRequest: { sessionId: 's1', force: true } });

  expect(obeyed.slice(1)).toEqual([
    { do: 'input', session: 's1', data: bytes('in'), isLast: true },
    { do: 'kill', session: 's1', force: true, graceMs: 10_000 },
  ]);
});

test('after a reconnect what was reported before is not reported again', () => {
  const first = aPeer();
  first.hear({ sessionRequest: request });
  first.peer.report({ is: 'started', ...head });
  const second = aPeer(first.tasks);

  second.peer.report({ is: 'started', ...head });
  second.peer.report({ is: 'ended', ...head, lastSeq: 0, how: 'exited', exitCode: 3 });

  expect(second.said).toMatchObject([{ sessionCompletion: { instanceId: 7n, batchTaskResult: { exitCode: 3 } } }]);
});

test.each([
  [{ loginUser: 'ada', uid: 7 }, { user: 'ada' }],
  [
    { uid: 1000, gid: 100, groups: [4] },
    { uid: 1000, gid: 100, groups: [4] },
  ],
  [{}, undefined],
])('the account %j of a workload is that of its session', (account, runAs) => {
  const { peer, obeyed } = aPeer();

  peer.hear(
    create(AgentUpdateResponseSchema, { sessionRequest: { sessionId: 's1', workload: { command: 'id', ...account } } }),
  );

  expect(obeyed.map((command) => command.do === 'start' && command.spec.runAs)).toEqual([runAs]);
});
