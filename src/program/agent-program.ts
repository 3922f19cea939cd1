import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ServerConfig } from '#config/server-file.ts';
import { type Bundle, bundleAgent } from '../installer/bundle.ts';
import { mustRunOn, type NodeRuntime } from '../installer/runtime.ts';

const PROGRAM = join(import.meta.dirname, 'agent.ts');
// In an image there is no source: the agent was bundled with the server, beside it.
const MADE_BEFORE = join(import.meta.dirname, 'agent.mjs');

/** Where the agent's program is kept for those that start or fetch it. */
export const agentFolder = (dataDir: string): string => join(dataDir, 'agent');

/** Makes the agent's program ready to run. */
export async function makeAgentProgram(dataDir: string, version: string): Promise<Bundle> {
  if (existsSync(MADE_BEFORE)) return { path: MADE_BEFORE, sha256: hash('sha256', readFileSync(MADE_BEFORE)) };
  return bundleAgent(PROGRAM, agentFolder(dataDir), version);
}

/** Our own Node, and those that the operator has for machines of another kind; throws where one cannot be. */
export function agentRuntimes({ agent }: ServerConfig): readonly NodeRuntime[] {
  const own = { platform: `${process.platform}-${process.arch}`, path: process.execPath };
  const others = Object.entries(agent.runtimes).map(([platform, path]) => ({ platform, path: resolve(path) }));
  for (const runtime of others) mustRunOn(runtime);
  return [own, ...others.filter(({ platform }) => platform !== own.platform)];
}
