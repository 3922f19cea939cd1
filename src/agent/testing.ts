// An agent on the virtual clock with a broker of a few lines, and sessions that end when a test says so.
import { fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import type { AgentCommand, AgentReport } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { encodeCommand } from '#wire/commands.ts';
import {
  type AgentUpdateRequest,
  AgentUpdateRequestSchema,
  AgentUpdateResponseSchema,
} from '#wire/gen/velda/broker_pb.ts';
import { encode, messageOf } from '#wire/messages.ts';
import { type AgentEnd, type RunningAgent, startAgent } from './agent.ts';
import type { Line, LineOptions, StreamEvents } from './dial.ts';
import { openEndTime } from './end-time.ts';
import type { OpenExecution } from './execution.ts';
import type { Notice } from './notices.ts';

/** A broker of a few lines: records what it receives, and sends what a test asks for. */
export interface FakeCall {
  readonly heard: AgentUpdateRequest[];
  isHalfClosed: boolean;
  isCancelled: boolean;
  say(message: MessageInitShape<typeof AgentUpdateResponseSchema>): void;
  command(...commands: AgentCommand[]): void;
  end(code: number, details?: string): void;
}

const noFault = undefined as Fault | undefined;

export interface SceneOptions {
  readonly leaseMs?: number;
  readonly addresses?: readonly string[];
  readonly jitter?: number;
  /** As the agent's file has it. */
  readonly endsAt?: number;
  readonly workDir?: string;
  /** Of sessions that a former agent has left. */
  readonly running?: number;
}

export const END_CODE = 80;

export function openScene(options: SceneOptions = {}) {
  const clock = new VirtualClock();
  const { workDir = '/nowhere' } = options;
  const calls: FakeCall[] = [];
  const handled: AgentCommand[] = [];
  const kept: { session: string; attempt: number }[] = [];
  const dialled: string[] = [];
  const dialledHow: LineOptions[] = [];
  const scene = {
    running: options.running ?? 0,
    replays: 0,
    isDraining: false,
    killed: false,
    ended: false,
    dialFault: noFault,
    callFault: noFault,
    dead: new Set<string>(),
  };
  let drained: (() => void)[] = [];
  let report: (said: AgentReport) => void = () => {};
  let notify: (notice: Notice) => void = () => {};

  const openExecution: OpenExecution = async (given) => {
    report = given.report;
    // As a real one does for what a former agent left: before anybody can hear it.
    report({ is: 'started', session: 'old', attempt: 1 });
    return {
      handle: (command) => {
        handled.push(command);
        if (command.do === 'ack' && command.result) kept.splice(0);
      },
      close() {},
      executions: () => [...kept],
      replay: () => {
        scene.replays += 1;
      },
      get running() {
        return scene.running;
      },
      drain: (mode) => {
        scene.isDraining = true;
        scene.killed ||= mode === 'kill';
        scene.ended ||= mode === 'end';
        if (mode === 'kill') finishSessions();
        return scene.running === 0 ? Promise.resolve() : new Promise((resolve) => drained.push(resolve));
      },
    };
  };

  function finishSessions(): void {
    scene.running = 0;
    for (const resolve of drained) resolve();
    drained = [];
  }

  function open(events: StreamEvents): FakeCall & { write(bytes: Uint8Array, written: () => void): void } {
    let isOver = false;
    const end = (code: number, details = ''): void => {
      if (isOver) return;
      isOver = true;
      clock.soon(() => events.ended({ code, details }));
    };
    const say: FakeCall['say'] = (message) => events.message(encode(AgentUpdateResponseSchema, message));
    return {
      heard: [],
      isHalfClosed: false,
      isCancelled: false,
      say,
      command: (...commands) =>
        events.message(messageOf(AgentUpdateResponseSchema.field.commands.number, commands.map(encodeCommand))),
      end,
      write(bytes, written) {
        this.heard.push(fromBinary(AgentUpdateRequestSchema, bytes));
        clock.soon(written);
      },
    };
  }

  const line: Line = {
    duplex: () => {
      throw new Fault('unsupported', 'This broker takes no tunnels.');
    },
    open(_, __, events) {
      if (scene.callFault) throw scene.callFault;
      const call = open(events);
      calls.push(call);
      return {
        write: (bytes, written) => call.write(bytes, written),
        halfClose: () => {
          call.isHalfClosed = true;
        },
        cancel: () => {
          call.isCancelled = true;
          call.end(1, 'Cancelled.');
        },
      };
    },
    fetch: () => {
      throw new Fault('unsupported', 'There are no files.');
    },
    close: () => {},
  };

  const endTime = openEndTime({ workDir, agent: 'a1', ofFile: options.endsAt, clock, log: silentLog });
  const start = async (): Promise<RunningAgent> =>
    startAgent({
      endTime: await endTime,
      endCode: END_CODE,
      self: {
        name: 'a1',
        hostname: 'h',
        address: '10.0.0.1',
        pool: 'local',
        slots: 2,
        labels: { zone: 'a' },
        version: '1',
      },
      workDir,
      leaseMs: options.leaseMs,
      headers: async () => ({}),
      openExecution,
      addresses: options.addresses ?? ['broker'],
      openLine: async (address, how) => {
        dialled.push(address);
        dialledHow.push(how);
        if (scene.dialFault || scene.dead.has(address))
          throw scene.dialFault ?? new Fault('unavailable', `${address} does not answer.`);
        return line;
      },
      watchNotices(heard) {
        notify = heard;
        return { stop: () => {} };
      },
      clock,
      random: { ...seededRandom(1), next: () => options.jitter ?? 0.5 },
      log: silentLog,
    });
  const started = start();
  const call = (at = calls.length - 1): FakeCall => calls[at] as FakeCall;
  const welcome = (leaseMs = 60_000): void =>
    call().say({ serverInfo: { version: '1' }, musterServer: { cluster: 'c', leaseMs: BigInt(leaseMs) } });
  return {
    clock,
    notify: (notice: Notice) => notify(notice),
    calls,
    dialled,
    dialledHow,
    call,
    welcome,
    handled,
    kept,
    scene,
    started,
    finishSessions,
    report: (said: AgentReport) => report(said),
  };
}

export type Scene = ReturnType<typeof openScene>;

/** One that the broker has let in. */
export async function joined(
  options: SceneOptions = {},
): Promise<Scene & { agent: RunningAgent; end: () => AgentEnd | undefined }> {
  const scene = openScene(options);
  const agent = await scene.started;
  let end: AgentEnd | undefined;
  void agent.ended.then((how) => {
    end = how;
  });
  await scene.clock.settle();
  scene.welcome();
  await scene.clock.settle();
  return { ...scene, agent, end: () => end };
}
