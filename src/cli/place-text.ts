/** Whether a message names that place itself, as one about several mistakes does. */
export const namesPlace = (message: string, place: string): boolean => message.includes(`${place}: `);

/** A message with the place that it is about. */
export const withPlace = (message: string, place: string | undefined): string =>
  place === undefined || namesPlace(message, place) ? message : `${place}: ${message}`;
