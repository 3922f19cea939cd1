import type { IncomingMessage } from 'node:http';

/** `https://host:port` as the client wrote it. */
export const originOf = ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
  const isSecure = 'encrypted' in socket && socket.encrypted === true;
  return `${isSecure ? 'https' : 'http'}://${headers.host ?? ''}`;
};
