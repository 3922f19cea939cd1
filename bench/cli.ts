// Processor time of a short command of the installed package beside one of kubectl, in turns.
import { join } from 'node:path';
import { clearDataDir } from '../src/providers/process/testing.ts';
import type { Bench, Report } from './bench.ts';
import { cpuOfCommand } from './parts/command-cpu.ts';
import { median } from './parts/numbers.ts';
import { makePackage } from './parts/package.ts';
import { withFolder } from './parts/scratch.ts';
import { startServer } from './parts/server.ts';

const POOL = {
  name: 'local',
  auto_scaler: { backend: { process: {} }, max_agents: 1, min_idle_agents: 0, max_idle_agents: 1 },
};
const KUBECTL = 'kubectl version --client';

/** The version of the kubectl of this machine; nothing where there is none. */
async function kubectlVersion(): Promise<string | undefined> {
  const { stdout } = await cpuOfCommand(KUBECTL).catch(() => ({ stdout: '' }));
  return /Client Version: (\S+)/.exec(stdout)?.[1];
}

async function measure(folder: string, report: Report): Promise<void> {
  const { command, entry } = await makePackage(join(folder, 'package'));
  const server = startServer({ folder, entry, config: { agent_pools: [POOL] } });
  try {
    const { http } = await server.serving;
    // The package runs by the Node on the path.
    const path = `${join(process.execPath, '..')}:${process.env.PATH}`;
    const env = { ...process.env, PATH: path, MUSTER_ADDRESS: http, MUSTER_TOKEN: server.token() };
    const kubectl = await kubectlVersion();
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let n = 0; n < (report.isQuick ? 5 : 21); n++) {
      ours.push((await cpuOfCommand(`'${command}' pool ls`, env)).cpuMs);
      if (kubectl) theirs.push((await cpuOfCommand(KUBECTL)).cpuMs);
    }
    const peer = kubectl ? '' : '; no kubectl here to compare with';
    report.figure('cli-cpu', median(ours), { note: `median of ${ours.length}, worst ${Math.max(...ours)} ms${peer}` });
    if (kubectl) report.figure('cli-cpu-kubectl', median(theirs), { note: `${kubectl}, in turns` });
  } finally {
    await server.stop();
    clearDataDir(server.dataDir);
  }
}

export const bench: Bench = {
  order: 131,
  name: 'cli',
  measures: ['cli-cpu', 'cli-cpu-kubectl'],
  limitMs: 120_000,
  run: (report) => withFolder((folder) => measure(folder, report)),
};
