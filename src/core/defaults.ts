// What holds where nobody says otherwise, for the settings that more than one part of the program knows.

/** Where the server keeps its files, relative to the directory it was started in. */
export const DEFAULT_DATA_DIR = './data';

/** Where an agent keeps what sessions left until the server has it. */
export const DEFAULT_AGENT_WORK_DIR = '/tmp/agent';

/** How long an agent goes on without the server. */
export const DEFAULT_AGENT_LEASE_MS = 3_600_000;
