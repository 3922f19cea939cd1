import { Fault } from '#core/fault.ts';
import type { RunAs, SessionSpec } from '#core/session.ts';
import { checkedName } from '#wire/foreign-text.ts';
import type { SessionRequest as VeldaRequest, Workload } from '#wire/gen/velda/session_pb.ts';
import type { SessionRequest } from '../sessions/sessions.ts';

const LONGEST_POOL = 253;
const LONGEST_USER = 256;
const GRACE_MS = 10_000;
// Velda restarts a batch session each time its machine is lost; we do so this often.
const RETRIES = 3;

/** Fields of Velda without a counterpart in Muster: refused, since ignoring them would run something else. */
// Velda's command line asks for this service wherever its caller names none.
const DEFAULT_SERVICE = 'ssh';

const UNSUPPORTED: readonly (readonly [string, (request: VeldaRequest, workload: Workload) => boolean])[] = [
  ['workload.total_shards', (_, workload) => workload.totalShards > 1],
  ['workload.stdin', (_, workload) => workload.stdin.length > 0],
  ['snapshot_name', (request, workload) => request.snapshotName !== '' || workload.snapshotName !== ''],
  ['writable_dirs', (request, workload) => request.writableDirs.length + workload.writableDirs.length > 0],
  ['dependencies', (request) => request.dependencies.length > 0],
  ['service_name', (request) => request.serviceName !== '' && request.serviceName !== DEFAULT_SERVICE],
  ['workload.service_name', (_, workload) => workload.serviceName !== ''],
  ['workload.command_path', (_, workload) => workload.commandPath !== ''],
];

function environmentOf(environs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    environs.map((entry) => {
      const [name = '', ...value] = entry.split('=');
      checkedName(name, 32_768, 'The name of a variable');
      return [name, value.join('=')];
    }),
  );
}

/** Velda ignores uid and gid where a user name is given. All zeros is root, and also what a client without a user sends. */
function runAsOf({ loginUser, uid, gid, groups }: Workload): RunAs | undefined {
  if (loginUser !== '') return { user: checkedName(loginUser, LONGEST_USER, 'workload.login_user') };
  return uid === 0 && gid === 0 && groups.length === 0 ? undefined : { uid, gid, groups };
}

function specOf(request: VeldaRequest, workload: Workload): SessionSpec {
  const { command: program } = workload;
  const runAs = runAsOf(workload);
  if (program === '') throw new Fault('invalid', 'The workload has no command.', { at: 'workload.command' });
  const priority = Number(request.priority);
  if (!Number.isSafeInteger(priority)) throw new Fault('invalid', 'The priority is out of range.', { at: 'priority' });
  return {
    command: [program, ...workload.args],
    env: environmentOf(workload.environs),
    ...(workload.workingDir !== '' && { cwd: workload.workingDir }),
    ...(runAs && { runAs }),
    stdin: false,
    priority,
    // Velda's labels are for searching; ours choose agents, so they do not carry over.
    labels: {},
    graceMs: GRACE_MS,
    retries: RETRIES,
  };
}

/** A batch request of Velda's command line as a Muster session, or a `Fault` that names what is not possible. */
export function sessionRequestOf(request: VeldaRequest): SessionRequest {
  const { workload } = request;
  if (!workload) {
    throw new Fault('unsupported', 'Muster does not support sessions over SSH.', {
      remedy: 'Use `muster run -it` or `muster shell`, or ask for a batch session.',
    });
  }
  if (request.pool === '') {
    throw new Fault('invalid', 'pool is required for workload execution', { at: 'pool', remedy: 'Name a pool.' });
  }
  for (const [field, isAsked] of UNSUPPORTED) {
    if (!isAsked(request, workload)) continue;
    const remedy = 'Leave it out, or see `muster run --help` for the equivalent.';
    throw new Fault('unsupported', `Muster does not support ${field}.`, { at: field, remedy });
  }
  return { pool: checkedName(request.pool, LONGEST_POOL, 'pool'), spec: specOf(request, workload) };
}
