import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildCommands, imageTag, uninstallCommands, upgradeCommands } from './deploy.ts';

const AT = Date.UTC(2026, 10, 18, 9, 5, 7);
const UPGRADE = ['helm', 'upgrade', 'muster', 'deploy/helm/muster', '--install', '--namespace', 'velda'];

describe('the tag of an image', () => {
  it('is the branch, the commit and the time', () => {
    expect(imageTag({ branch: 'main', sha: '1ecb41c9' }, AT)).toBe('main-1ecb41c9-20261118090507');
  });

  it.each([
    ['a branch with a slash', 'ada/gpu pools', 'ada-gpu-pools-1ecb41c9-20261118090507'],
    ['no branch', '', 'detached-1ecb41c9-20261118090507'],
    ['a branch that begins with a dot', '.hidden', 'hidden-1ecb41c9-20261118090507'],
  ])('is one that registries take, for %s', (_title, branch, tag) => {
    expect(imageTag({ branch, sha: '1ecb41c9' }, AT)).toBe(tag);
  });

  it('is never longer than a registry takes', () => {
    expect(imageTag({ branch: 'b'.repeat(300), sha: '1ecb41c9' }, AT)).toMatch(/^[\w][\w.-]{0,127}$/);
  });
});

describe('npm run build_docker', () => {
  it.each([
    ['muster/server', {}],
    ['registry.example.com/muster', { IMAGE_REPOSITORY: 'registry.example.com/muster' }],
  ])('builds %s from this checkout', (repository, variables) => {
    expect(buildCommands(variables, 'main-1-2', ['--pull'])).toEqual([
      ['docker', 'build', '-f', 'deploy/docker/server.Dockerfile', '-t', `${repository}:main-1-2`, '--pull', '.'],
    ]);
  });
});

describe('npm run helm_upgrade', () => {
  it('applies the definitions, then the chart with nodes and the tag', () => {
    expect(upgradeCommands({ IMAGE_TAG: '20261118' }, ['--values', 'mine.yaml'])).toEqual([
      ['kubectl', 'apply', '--server-side', '--force-conflicts', '-f', 'deploy/helm/muster/crds'],
      [
        ...[...UPGRADE, '--create-namespace', '--reset-then-reuse-values', '--set', 'nodes.enabled=true'],
        ...['--set-string', 'image.tag=20261118', '--values', 'mine.yaml'],
      ],
    ]);
  });

  it('reaches the same cluster, release and image with both programs', () => {
    const variables = {
      IMAGE_TAG: '1',
      IMAGE_REPOSITORY: 'registry.example.com/muster',
      HELM_KUBECONTEXT: 'prod',
      HELM_NAMESPACE: 'infra',
      HELM_RELEASE: 'nodes',
    };
    const [definitions, chart] = upgradeCommands(variables, []);

    expect(definitions?.slice(0, 4)).toEqual(['kubectl', '--context', 'prod', 'apply']);
    expect(chart?.slice(0, 7)).toEqual([
      'helm',
      'upgrade',
      'nodes',
      'deploy/helm/muster',
      '--install',
      '--namespace',
      'infra',
    ]);
    expect(chart).toContain('image.repository=registry.example.com/muster');
    expect(uninstallCommands(variables, [])).toEqual([['helm', 'uninstall', 'nodes', '--namespace', 'infra']]);
  });

  it('needs a tag, and says how to give it', () => {
    expect(() => upgradeCommands({}, [])).toThrow('IMAGE_TAG=TAG npm run helm_upgrade');
  });
});

describe('npm run', () => {
  it('has the verbs by which node-provisioner is built and deployed', () => {
    const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };

    for (const verb of ['manifests', 'generate', 'build_docker', 'helm_upgrade', 'helm_uninstall'])
      expect(Object.keys(scripts)).toEqual(expect.arrayContaining([verb, `pre${verb}`]));
  });
});
