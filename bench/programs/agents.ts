// Agents in a program of their own.
import { openAgents } from '../parts/answering-agents.ts';
import { type Calls, serveCalls } from '../parts/program.ts';

const calls = openAgents() satisfies Calls;

export type AgentCalls = typeof calls;

serveCalls(calls);
