// For `--import`: writes the address of each module that a process loads into the file that LOADED_MODULES names.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const { LOADED_MODULES } = process.env;

registerHooks({
  load(url, context, next) {
    appendFileSync(LOADED_MODULES, `${url}\n`);
    return next(url, context);
  },
});
