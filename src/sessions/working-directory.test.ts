import { expect, test } from 'vitest';
import { specOf } from './testing/scene.ts';
import { workingDirectory } from './working-directory.ts';

const HERE = { seesOurFiles: true, index: 0 };
const ELSEWHERE = { seesOurFiles: false, index: 0 };
const caller = { callerFolder: '/home/me/project' };
const files = { files: { manifest: 'm', token: 't' } };

test('in a pool of this machine a session starts in the folder of its caller, or below it', () => {
  expect(workingDirectory({ spec: specOf(), ...caller }, HERE)).toBe('/home/me/project');
  expect(workingDirectory({ spec: specOf({ cwd: 'src' }), ...caller }, HERE)).toBe('/home/me/project/src');
  expect(workingDirectory({ spec: specOf({ cwd: '../x' }), ...caller }, HERE)).toBe('/home/me/x');
  expect(workingDirectory({ spec: specOf({ cwd: '/srv' }), ...caller }, HERE)).toBe('/srv');
});

test('elsewhere the folder of the caller means nothing, and a relative directory is refused with the remedy', () => {
  expect(workingDirectory({ spec: specOf(), ...caller }, ELSEWHERE)).toBeUndefined();
  expect(() => workingDirectory({ spec: specOf({ cwd: 'src' }), ...caller }, ELSEWHERE)).toThrow(
    expect.objectContaining({ kind: 'invalid', remedy: expect.stringContaining('--sync') }),
  );
});

test('a caller on another machine has no folder here, in a pool of this machine too', () => {
  expect(workingDirectory({ spec: specOf() }, HERE)).toBeUndefined();
  expect(() => workingDirectory({ spec: specOf({ cwd: 'src' }) }, HERE)).toThrow('src is relative');
});

test('with files the session starts in their folder everywhere, and a relative directory is inside it', () => {
  expect(workingDirectory({ spec: specOf(), ...caller, ...files }, HERE)).toBeUndefined();
  expect(workingDirectory({ spec: specOf({ cwd: 'src' }), ...caller, ...files }, HERE)).toBe('src');
  expect(() => workingDirectory({ spec: specOf({ cwd: '../x' }), ...files }, ELSEWHERE)).toThrow('not in the folder');
});
