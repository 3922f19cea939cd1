import { join } from 'node:path';
import { type Bundle, bundleAgent } from '../installer/bundle.ts';

const PROGRAM = join(import.meta.dirname, 'agent.ts');

/** Where the agent's program is kept for those that start or fetch it. */
export const agentFolder = (dataDir: string): string => join(dataDir, 'agent');

/** Makes the agent's program ready to run. */
export function makeAgentProgram(dataDir: string, version: string): Promise<Bundle> {
  return bundleAgent(PROGRAM, agentFolder(dataDir), version);
}
