import { describe, expect, it } from 'vitest';
import { type RecipeParts, recipeHash, recipeOf, stepFailed } from './image-builder.ts';

const PARTS: RecipeParts = {
  name: 'muster-agent',
  version: '1.2.0',
  base: 'debian:bookworm-slim',
  files: [
    { path: '/opt/muster', mode: 0o755, from: { archive: '/cache/agent.tar.gz', sha256: 'aa' } },
    { path: '/etc/note', mode: 0o644, from: { text: 'note' } },
  ],
  steps: ['true', 'false'],
  ports: [8000],
  entry: ['/opt/muster/muster-agent'],
};

const CHANGES: readonly Partial<RecipeParts>[] = [
  { name: 'other' },
  { version: '1.2.1' },
  { base: 'debian:trixie-slim' },
  { files: [] },
  { files: [{ path: '/opt/muster', mode: 0o755, from: { archive: '/cache/agent.tar.gz', sha256: 'bb' } }] },
  { files: [{ path: '/opt/muster', mode: 0o755, from: { file: '/cache/agent.tar.gz', sha256: 'aa' } }] },
  { steps: ['false', 'true'] },
  { ports: [] },
  { entry: [] },
];

describe('the hash of a recipe', () => {
  it('is the same wherever a file of this machine is, and in whatever order the files are named', () => {
    const [archive, note] = PARTS.files as [(typeof PARTS.files)[number], (typeof PARTS.files)[number]];
    const moved = { ...archive, from: { archive: '/elsewhere/a.tar.gz', sha256: 'aa' } };

    expect(recipeHash({ ...PARTS, files: [note, moved] })).toBe(recipeHash(PARTS));
  });

  it('differs for all that forms the image', () => {
    const hashes = CHANGES.map((change) => recipeHash({ ...PARTS, ...change }));

    expect(new Set([recipeHash(PARTS), ...hashes]).size).toBe(CHANGES.length + 1);
  });
});

it('a step that failed is named with its place, its exit code and its command', () => {
  expect(stepFailed(recipeOf(PARTS), 2, 7)).toMatchObject({
    kind: 'invalid',
    at: 'steps[1]',
    message: 'Step 2 of 2 ended with exit code 7: false',
  });
});
