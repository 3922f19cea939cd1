// The program of the store's thread. It is JavaScript so that the compile cache is on before any TypeScript is read: a
// thread starts without one, and would load the whole compiler, some 20 MB, for a dozen files.
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('../store/database-thread.ts');
