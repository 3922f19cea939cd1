// Muster. The imports come after the compile cache is on, so that the second start need not compile anything.
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { main } = await import('./program/main.ts');
await main(process.argv.slice(2));
