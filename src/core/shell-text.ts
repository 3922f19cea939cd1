/** As one word of a POSIX shell, which expands nothing in it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
