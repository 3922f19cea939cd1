import { posix } from 'node:path';
import { type Functions, fn } from './function.ts';

function clean(path: string): string {
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}

function base(path: string): string {
  if (path === '') return '.';
  const bare = path.replace(/\/+$/, '');
  return bare === '' ? '/' : bare.slice(bare.lastIndexOf('/') + 1);
}

function ext(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.includes('.') ? name.slice(name.lastIndexOf('.')) : '';
}

const functions = {
  Base: fn(['string'], base),
  Clean: fn(['string'], clean),
  Dir: fn(['string'], (path) => clean(path.slice(0, path.lastIndexOf('/') + 1))),
  Ext: fn(['string'], ext),
  IsAbs: fn(['string'], (path) => path.startsWith('/')),
};

/** Sprig's functions for paths; those of the operating system are those of Linux. */
export const pathFunctions: Functions = {
  base: functions.Base,
  clean: functions.Clean,
  dir: functions.Dir,
  ext: functions.Ext,
  isAbs: functions.IsAbs,
  osBase: functions.Base,
  osClean: functions.Clean,
  osDir: functions.Dir,
  osExt: functions.Ext,
  osIsAbs: functions.IsAbs,
};
