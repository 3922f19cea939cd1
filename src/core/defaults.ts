// Defaults of settings that more than one part of the program knows.

/** Where the server keeps its files, relative to the directory it was started in. */
export const DEFAULT_DATA_DIR = './data';

/** Where an agent keeps results of sessions until the server has them. */
export const DEFAULT_AGENT_WORK_DIR = '/tmp/agent';

/** How long an agent runs without contact to the server. */
export const DEFAULT_AGENT_LEASE_MS = 3_600_000;
