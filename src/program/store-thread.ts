/** The program of the store's threads: beside this file, or beside the bundle that this file is in. */
export const STORE_THREAD = new URL('./store-thread.mjs', import.meta.url);
