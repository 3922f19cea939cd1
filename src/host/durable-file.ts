import { link, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Resolves when the names in that folder would survive a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writeDraft(draft: string, text: string): Promise<void> {
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Writes a file that only we may read: whole or not at all, and durable when this resolves. One writer at a time. */
export async function writeDurably(path: string, text: string, draft = `${path}.draft`): Promise<void> {
  await writeDraft(draft, text);
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/** The same where there is no such file yet; of several writers, each with a draft of its own, the first wins. */
export async function writeFirst(path: string, text: string, draft: string): Promise<void> {
  await writeDraft(draft, text);
  await link(draft, path).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'EEXIST') throw thrown;
  });
  await unlink(draft);
  await syncFolder(dirname(path));
}
