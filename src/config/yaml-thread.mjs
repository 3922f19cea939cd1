// The program of the thread that reads long files. It is JavaScript so that the compile cache is on before any TypeScript
// is read: a thread starts without one, and would load the whole compiler.
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./yaml-thread.ts');
