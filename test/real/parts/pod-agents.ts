// Agents for pods that kwok plays: a process of this machine under the name of each pod that runs, while it runs.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { makeAgentProgram } from '../../../src/program/agent-program.ts';
import { readVersion } from '../../../src/program/version.ts';
import type { World } from '../../system/harness/world.ts';
import { ADMIN, type ControlPlane } from './control-plane.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import type { KubernetesPrograms } from './kubernetes.ts';

// kubectl prints a line for each change of a pod.
const LINE =
  '{.type} {.object.metadata.name} {.object.status.phase} gone={.object.metadata.deletionTimestamp} slots={.object.spec.containers[0].env[?(@.name=="MUSTER_SLOTS")].value} {.object.spec.containers[0].args[0]}{"\\n"}';

export interface PodAgents {
  /** Ends the agents of these pods for good, while the pods go on. */
  silence(pods: readonly string[]): Promise<void>;
}

/** Follows the pods of all namespaces; agents find their server at that address. */
export async function startPodAgents(
  world: World,
  cluster: ControlPlane,
  programs: KubernetesPrograms,
  brokerAddress: string,
): Promise<PodAgents> {
  const silent = new Set<string>();
  const agents = new Map<string, Daemon>();
  const { path: program } = await makeAgentProgram(world.path('agents'), readVersion());

  function start(name: string, pool: string, slots: string): void {
    const daemon_config = { work_dir_path: world.path(`agents/${name}`) };
    const config = world.write(
      `agents/${name}.yaml`,
      JSON.stringify({ broker: { address: brokerAddress }, daemon_config }),
    );
    const words = [process.execPath, program, 'agent', `--pool=${pool}`, '--config', config];
    const agent = startDaemon(world, `agent-${name}`, words, { env: { AGENT_NAME: name, MUSTER_SLOTS: slots } });
    agents.set(name, agent);
    void agent.ended.then(() => agents.get(name) === agent && agents.delete(name));
  }

  function take(line: string): void {
    const [type, name = '', phase, gone, slots = '', argument = ''] = line.split(' ');
    const pool = argument.replace('--pool=', '');
    if (type === 'DELETED' || gone !== 'gone=') void agents.get(name)?.stop();
    else if (phase === 'Running' && pool !== '' && !agents.has(name) && !silent.has(name))
      start(name, pool, slots.replace('slots=', ''));
  }

  const words = ['get', 'pods', '-A', '-w', '--output-watch-events', '-o', `jsonpath=${LINE}`];
  const env = { ...world.env, KUBECONFIG: cluster.kubeconfigOf(ADMIN) };
  // The watch ends with the API server; it begins anew until the world ends.
  function follow(): void {
    const watch = spawn(programs.program('kubectl'), words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    createInterface(watch.stdout).on('line', take);
    watch.once('exit', (_code, signal) => signal === null && setTimeout(follow, 200).unref());
  }
  follow();
  return {
    async silence(pods) {
      for (const name of pods) silent.add(name);
      await Promise.all(pods.map((name) => agents.get(name)?.stop('SIGKILL')));
    },
  };
}
