// The program of the thread of the model. It is JavaScript so that the compile cache is on before any TypeScript is read: a
// thread starts without one, and would load the whole compiler.
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./model-thread.ts');
