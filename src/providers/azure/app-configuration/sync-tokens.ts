// A store has replicas. With the tokens that it gave along with earlier answers it never answers from an older state:
// learn.microsoft.com/azure/azure-app-configuration/rest-api-consistency.

interface Seen {
  readonly value: string;
  readonly number: number;
}

export interface SyncTokens {
  /** Takes what an answer says; of one id the highest number counts. */
  hear(header: string | null): void;
  /** For the next request; nothing before the first token. */
  header(): string | undefined;
}

const TOKEN = /^\s*([^=]+)=([^;]*);\s*sn=(\d+)\s*$/;

export function openSyncTokens(): SyncTokens {
  const seen = new Map<string, Seen>();
  return {
    hear(header) {
      for (const part of header?.split(',') ?? []) {
        const [, id = '', value = '', number = ''] = TOKEN.exec(part) ?? [];
        if (id !== '' && Number(number) >= (seen.get(id)?.number ?? 0)) seen.set(id, { value, number: Number(number) });
      }
    },
    header: () => (seen.size === 0 ? undefined : [...seen].map(([id, { value }]) => `${id}=${value}`).join(',')),
  };
}
