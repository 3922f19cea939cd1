import type { Readable } from 'node:stream';

/** A file that a new machine fetches: it carries nothing secret. */
export interface InstallFile {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly mediaType: string;
  open(): Readable;
}

/** The agent for machines that have nothing yet. Names are looked up in a closed list, never joined to a path. */
export interface AgentFiles {
  /** A shell script that installs the agent from this server. */
  installScript(origin: string): Promise<string>;
  find(name: string): Promise<InstallFile | undefined>;
}
