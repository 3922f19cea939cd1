import { type Recipe, type RecipeParts, recipeOf } from '#core/image-builder.ts';

/** A recipe with one file of each form and two steps. */
export const aRecipe = (changed: Partial<RecipeParts> = {}): Recipe =>
  recipeOf({
    name: 'muster-agent',
    version: '1.2.0',
    base: 'a base',
    files: [
      { path: '/opt/muster', mode: 0o755, from: { archive: '/pack/agent.tar.gz', sha256: 'ab'.repeat(32) } },
      { path: '/etc/muster/it’s.conf', mode: 0o644, from: { text: 'as it was written\n' } },
    ],
    steps: ['mkdir -p /srv', 'apt-get update'],
    ports: [],
    entry: [],
    ...changed,
  });
