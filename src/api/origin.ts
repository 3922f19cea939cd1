import type { FastifyRequest } from 'fastify';

/** `https://host:port` as the client wrote it. */
export const originOf = (request: FastifyRequest): string => {
  const isSecure = 'encrypted' in request.raw.socket && request.raw.socket.encrypted === true;
  return `${isSecure ? 'https' : 'http'}://${request.headers.host ?? ''}`;
};
